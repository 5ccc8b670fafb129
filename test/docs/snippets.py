#!/usr/bin/env python3
"""snippets.py COILC DOCS: compiles every program shown in the documentation.

A program is a fenced block of Markdown marked `coil`. Each must be proved for at least two of 1 to 8
ranks, and may be refused for others only by an assertion of its own.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

RANKS = range(1, 9)


def snippets(path):
    """The line and text of each program."""
    text = path.read_text(encoding="utf-8")
    for match in re.finditer(r"^```coil\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, match.start()) + 2, match.group(1)


def problem_of(coilc, program):
    """What is wrong with a program, or none."""
    names = re.findall(r"^algorithm (\w+)", program.read_text(encoding="utf-8"), re.MULTILINE)
    if not names:
        return "it has no algorithm"
    for name in names:
        proved = 0
        for ranks in RANKS:
            command = [coilc, program, "--algorithm", name, "-n", str(ranks), "--explain"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
            proved += done.returncode == 0
            if done.returncode != 0 and f"(with {ranks} ranks)" not in done.stderr:
                return f"'{name}' on {ranks} ranks:\n{done.stderr}"
        if proved < 2:
            return f"'{name}' was proved for {proved} of {len(RANKS)} numbers of ranks"
    return None


def main():
    coilc, failures, count = sys.argv[1], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "snippet.coil")
        for path in sorted(Path(sys.argv[2]).glob("*.md")):
            for line, text in snippets(path):
                count += 1
                program.write_text(text, encoding="utf-8")
                if problem := problem_of(coilc, program):
                    failures += 1
                    print(f"{path}:{line}: {problem}")
    print(f"{count} programs, {failures} failures")
    return 1 if failures or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
