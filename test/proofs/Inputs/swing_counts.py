"""swing_counts.py COILC EXAMPLES [--all]: proves swing for even numbers of ranks up to 46, or all to 128."""

import subprocess
import sys
from pathlib import Path

# Mostly no powers of two: just below and above powers of two; and what lies between.
SAMPLE = [2, 4, 6, 8, 10, 12, 14, 18, 20, 22, 24, 26, 28, 30, 34, 36, 40, 46]


def main():
    coilc, examples = sys.argv[1], Path(sys.argv[2])
    counts = range(2, 129, 2) if "--all" in sys.argv else SAMPLE
    for ranks in counts:
        command = [coilc, examples / "allreduce" / "swing.coil", "-n", str(ranks), "-o", "/dev/null"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode != 0:
            print(f"{ranks} ranks: coilc's exit code is {done.returncode}\n{done.stderr}")
            return 1
    print("swing is proved for", *counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
