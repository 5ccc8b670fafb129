#!/usr/bin/env python3
"""Checks that layering.py finds each kind of break, and none in a clean tree."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECKER = Path(__file__).with_name("layering.py")


def header(path, *lines):
    guard = f"COIL_{path.removesuffix('.h').replace('/', '_').upper()}_H"
    name = path.rsplit("/", 1)[-1]
    return "\n".join(
        [f"//===- {name} - a header", f"#ifndef {guard}", f"#define {guard}", *lines, "#endif", ""]
    )


class LayeringTest(unittest.TestCase):
    def check(self, files):
        """Runs the checker over a tree of these files; gives its exit code and output."""
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                (Path(root) / path).parent.mkdir(parents=True, exist_ok=True)
                (Path(root) / path).write_text(text, encoding="utf-8")
            command = [sys.executable, str(CHECKER), root]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            return run.returncode, run.stdout

    def expect_break(self, files, text):
        code, output = self.check(files)
        self.assertEqual(code, 1, output)
        self.assertIn(text, output)

    def test_clean_tree_passes(self):
        code, output = self.check({"runtime/base/A.h": header("runtime/base/A.h", "#include <vector>")})
        self.assertEqual(code, 0, output)
        self.assertIn("1 files read, 0 breaks", output)

    def test_direct_include(self):
        files = {"runtime/base/A.h": header("runtime/base/A.h", '#include "llvm/ADT/Twine.h"')}
        self.expect_break(files, "runtime/base/A.h:4: runtime must not include llvm: llvm/ADT/Twine.h")

    def test_roundabout_include(self):
        files = {
            "compiler/schedule/A.h": header("compiler/schedule/A.h", '#include "compiler/other/B.h"'),
            "compiler/other/B.h": header("compiler/other/B.h", "#include <mlir/IR/Value.h>"),
        }
        self.expect_break(files, "compiler/other/B.h -> mlir/IR/Value.h")

    def test_tablegen(self):
        banner = "//===- A.td - passes\n"
        self.expect_break(
            {"dialect/A.td": banner + 'include "passes/Passes.td"\n'}, "dialect must not include passes"
        )
        self.expect_break({"passes/A.td": banner + "  let statistics = [];\n"}, "use remarks")

    def test_form(self):
        wrong_guard = header("runtime/base/A.h").replace("RUNTIME_BASE", "BASE")
        self.expect_break({"runtime/base/A.h": wrong_guard}, "expected the header guard COIL_RUNTIME")
        self.expect_break({"runtime/base/B.cpp": "int x;\n"}, "expected a banner")
        self.expect_break({"runtime/base/B.cpp": "int x; \n"}, "trailing white space")
        self.expect_break({"runtime/base/B.cpp": "\n" * 701}, "expected at most 700 lines, found 701")

    def test_double_type(self):
        a, b = "runtime/base/A.h", "compiler/schedule/B.h"
        body = ("namespace coil {", "struct alignas(64) Part {", "};", "}")
        self.expect_break({a: header(a, *body), b: header(b, *body)}, "coil::Part is defined in")
        other = ("namespace coil::ast {", "class Part final : public Base {", "};", "}")
        self.assertEqual(self.check({a: header(a, *body), b: header(b, *other)})[0], 0)
        inner = ("namespace coil {", "struct Part::State {", "};", "}")
        self.assertEqual(self.check({a: header(a, *body), b: header(b, *inner)})[0], 0)


if __name__ == "__main__":
    unittest.main()
