"""Runs coil-plan as users do: coil_plan_test.py COIL-PLAN WRITE-TEST-PLANS."""

import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL, WRITER = sys.argv[1:3]


class CoilPlan(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.plans = pathlib.Path(cls.folder.name)
        subprocess.run([WRITER, cls.plans], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_tool(self, *arguments, status=0, **options):
        run = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, **options)
        self.assertEqual(run.returncode, status, run.stderr.decode())
        if status == 0:
            self.assertEqual(run.stderr, b"")
        elif status == 1:
            self.assertEqual(run.stdout, b"")
        return (run.stdout if status == 0 else run.stderr).decode()

    def test_check(self):
        for plan in self.plans.glob("*.plan"):
            self.assertRegex(self.run_tool("check", plan),
                             r'^valid plan "\w+" for \w+: .*, digest 0x[0-9a-f]{16}\n$')

    def test_check_names_what_is_wrong(self):
        damaged = self.plans / "damaged"
        damaged.write_bytes((self.plans / "every.plan").read_bytes()[:-1])
        self.assertRegex(self.run_tool("check", damaged, status=1),
                         rf"^coil-plan: {damaged}: the file ends early: .*\n$")
        self.assertIn("cannot open: No such file", self.run_tool("check", "/nowhere", status=1))
        self.assertIn("Is a directory", self.run_tool("check", self.plans, status=1))

    def test_standard_input(self):
        plan = (self.plans / "every.plan").read_bytes()
        by_name = self.run_tool("info", self.plans / "every.plan")
        self.assertEqual(self.run_tool("info", "-", input=plan), by_name)
        self.assertEqual(self.run_tool("check", "-", input=b"", status=1),
                         "coil-plan: standard input: not a plan: the file is empty\n")

    def test_json(self):
        for path in self.plans.glob("*.plan"):
            plan = json.loads(self.run_tool("dump", "--json", path))
            self.assertEqual(len(plan["digest"]), 16)
            self.assertEqual(plan["format_version"], 2)
            for number, variant in enumerate(plan["variants"]):
                self.assertEqual(variant["number"], number)
                shifts = math.prod(digit["radix"] for digit in variant["symmetry"])
                self.assertEqual(len(variant["program_of_kind"]) * shifts, plan["ranks"])
        plan = json.loads(self.run_tool("dump", self.plans / "staged.plan", "--json"))
        self.assertEqual(plan["variants"][0]["programs"][1]["workers"][0]["body"], [
            {"kind": "push", "operands": [{"kind": "input", "rank": 1, "index": 0}],
             "channel": 1, "length": 0, "location": 0},
            {"kind": "pop_reduce",
             "operands": [{"kind": "slot", "rank": 1, "index": 0},
                          {"kind": "input", "rank": 1, "index": 0}],
             "destination": {"kind": "output", "rank": 1, "index": 0},
             "length": 0, "complete": True, "location": 0}])

    def test_one_variant(self):
        chain = self.plans / "chain.plan"
        plan = json.loads(self.run_tool("dump", "--json", "--variant", 1, chain))
        self.assertEqual([variant["number"] for variant in plan["variants"]], [1])
        self.assertIn("expected a variant below 2, found 2",
                      self.run_tool("dump", "--variant", 2, chain, status=1))
        self.run_tool("dump", "--variant", -1, chain, status=2)

    def test_help_and_usage(self):
        self.assertIn("Example:", self.run_tool("--help"))
        self.assertIn("--variant", self.run_tool("dump", "--help"))
        self.run_tool(status=2)
        self.run_tool("check", status=2)
        self.run_tool("frobnicate", "x", status=2)
        self.run_tool("check", "--json", "x", status=2)

    def test_full_disk(self):
        for command in ("dump", "info", "check"):
            with open("/dev/full", "w") as full:
                run = subprocess.run([TOOL, command, self.plans / "every.plan"], stdout=full,
                                     stderr=subprocess.PIPE)
            self.assertEqual(run.returncode, 1)
            self.assertEqual(run.stderr, b"coil-plan: cannot write standard output: "
                                         b"No space left on device\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
