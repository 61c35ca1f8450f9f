"""`baton devices` with the HIP runtimes that a machine may have."""

import json
import os
import unittest

from baton_tool import ToolTest

EMU = "emu  gfx950, gfx942, gfx90a, emulated on this CPU\n"


class Devices(ToolTest):
    def devices(self, *arguments, **environment):
        return self.run_well("devices", *arguments, env={**os.environ, **environment})

    def standin(self, *arguments, **environment):
        return self.devices(*arguments, BATON_HIP_LIBRARY=os.environ["BATON_HIP_STANDIN"],
                            **environment)

    def test_what_is_not_there_says_why_in_one_line(self):
        for library, why in [("/no/lib.so", r"cannot open BATON_HIP_LIBRARY: /no/lib\.so: .*"),
                             ("libm.so.6", r"libm\.so\.6 has no function hipInit")]:
            with self.subTest(library):
                text = self.devices(BATON_HIP_LIBRARY=library)
                self.assertRegex(text, f"^{EMU}hip  none: {why}\n$")
        if not os.path.exists("/dev/kfd"):  # Debian's own library, by its name and as one of many
            for library in ("libamdhip64.so.5", ""):
                self.assertRegex(self.devices(BATON_HIP_LIBRARY=library),
                                 rf"^{EMU}hip  none: libamdhip64\.so\.\d sees no AMD GPU\n$")
        self.assertEqual(self.standin(BATON_STANDIN_DEVICES="0"), EMU +
                         f"hip  none: {os.environ['BATON_HIP_STANDIN']} sees no AMD GPU\n")

    def test_gpus_are_listed(self):
        self.assertEqual(self.standin(BATON_STANDIN_DEVICES="2"), EMU +
                         "hip  device 0: Stand-in, gfx950\nhip  device 1: Stand-in, gfx950\n")
        self.assertEqual(self.standin(BATON_STANDIN_DEVICES="1", BATON_STANDIN_CHIP="gfx1100"),
                         EMU + "hip  device 0: Stand-in, gfx1100 (Baton has no kernels for it)\n")

    def test_json(self):
        listed = json.loads(self.standin("--json", BATON_STANDIN_DEVICES="1"))
        self.assertEqual(listed["emu"]["chips"], ["gfx950", "gfx942", "gfx90a"])
        self.assertEqual(listed["hip"]["devices"],
                         [{"device": 0, "name": "Stand-in", "chip": "gfx950", "usable": True}])
        self.assertEqual(listed["hip"]["reason"], "")


if __name__ == "__main__":
    unittest.main()
