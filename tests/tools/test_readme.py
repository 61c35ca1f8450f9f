"""The README's console examples are what happens."""

import os
import unittest

from examples import ExamplesTest


class Readme(ExamplesTest):
    def test_examples(self):
        self.check_examples(os.environ["BATON_README"], fewest=10)


if __name__ == "__main__":
    unittest.main()
