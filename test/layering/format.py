#!/usr/bin/env python3
"""format.py CLANG_FORMAT ROOT: checks that clang-format would change no file."""

import subprocess
import sys
from pathlib import Path

from layering import SOURCE_FOLDERS


def main():
    clang_format, root = sys.argv[1], Path(sys.argv[2])
    files = [
        str(path)
        for folder in SOURCE_FOLDERS
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in (".h", ".c", ".cpp")
    ]
    print(f"{len(files)} files; to mend them: {clang_format} -i FILE")
    return subprocess.run([clang_format, "--dry-run", "--Werror", *files], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
