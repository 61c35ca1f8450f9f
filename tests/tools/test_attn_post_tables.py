"""docs/attn_post.md says what is measured."""

import os
import unittest
from pathlib import Path

import attn_post_tables


class Tables(unittest.TestCase):
    maxDiff = None

    def test_the_file_is_what_would_be_written(self):
        written = Path(os.environ["BATON_DOCS"], "attn_post.md").read_text(encoding="utf-8")
        self.assertEqual(written, attn_post_tables.tables())


if __name__ == "__main__":
    unittest.main()
