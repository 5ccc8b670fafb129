"""Checks what the kernels' object files export: each its table, nothing else.

An inline function with a common name, compiled with AVX in one of these files,
could be the one that the linker keeps for the whole program.

usage: check_symbols.py NM LIBRARY
"""

import re
import subprocess
import sys


def main():
    nm, library = sys.argv[1:]
    listing = subprocess.run(
        [nm, "-C", "-g", "--defined-only", library], check=True, text=True, stdout=subprocess.PIPE
    ).stdout
    tables, unexpected, member = [], [], None
    for line in listing.splitlines():
        if line.endswith(":"):
            member = line[:-1]
        elif member and re.match(r"Kernels\w+\.cpp", member) and line:
            symbol = line.split(maxsplit=2)[2]
            if re.fullmatch(r"coil::cpu::\w+Kernels", symbol):
                tables.append(symbol)
            else:
                unexpected.append(f"{member}: {symbol}")
    if not tables:
        sys.exit(f"no table of kernels found in {library}")
    if unexpected:
        sys.exit("exported besides the tables:\n" + "\n".join(unexpected))


main()
