#!/usr/bin/env python3
"""consoles.py COILC ROOT [--write]: runs every command shown in the documentation and compares what it prints.

A command and its output are a fenced block of Markdown marked `console`, whose first line is "$ " and
the command, a call of coilc or coil-topo from the repository's root. --write puts what is printed into the documents.
"""

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"^```console\n\$ ((?:coilc|coil-topo) [^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def output_of(coilc, root, command):
    """What a command prints, errors first. No plan is left behind."""
    words = shlex.split(command)
    with tempfile.TemporaryDirectory() as folder:
        # All tools lie beside the compiler.
        arguments = [coilc.with_name(words[0]), *words[1:]]
        if words[0] == "coilc" and "--explain" not in command and "--emit" not in command:
            arguments += ["-o", str(Path(folder, "shown.plan"))]
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=False, cwd=root)
    return done.stderr + done.stdout


def main():
    coilc, root, writes = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), "--write" in sys.argv
    count = failures = 0
    for path in sorted((root / "docs").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        wanted = text
        for match in BLOCK.finditer(text):
            count += 1
            printed = output_of(coilc, root, match.group(1))
            if not printed:
                failures += 1
                print(f"{path}: '{match.group(1)}' prints nothing")
            elif printed != match.group(2):
                wanted = wanted.replace(match.group(0), f"```console\n$ {match.group(1)}\n{printed}```")
                if not writes:
                    failures += 1
                    line = text.count("\n", 0, match.start()) + 1
                    print(f"{path}:{line}: '{match.group(1)}' prints\n{printed}but the document says\n{match.group(2)}")
        if writes and wanted != text:
            path.write_text(wanted, encoding="utf-8")
    print(f"{count} commands, {failures} failures")
    return 1 if failures or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
