"""every_example.py COILC EXAMPLES: generates the kernels of every example for several numbers of
ranks, twice each, and compares; texts stay short for many ranks."""

import concurrent.futures
import subprocess
import sys
from pathlib import Path

RANKS = (1, 2, 3, 4, 5, 8, 16)
# A regular algorithm's text does not grow with ranks; others have a function for each class of ranks.
MOST_LINES = 320


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def generate(coilc, program, ranks):
    """The number of kernels, and what is wrong with them, or none."""
    command = (coilc, str(program), "-n", str(ranks), "--root=0", "--emit=cuda")
    first = run(*command)
    if "has no root" in first.stderr:
        command = (coilc, str(program), "-n", str(ranks), "--emit=cuda")
        first = run(*command)
    if first.returncode != 0 and f"(with {ranks} ranks)" in first.stderr:
        return 0, None  # the algorithm is not for this number of ranks
    texts = first.stdout.split("\n} // namespace coil::generated\n")[:-1]
    problem = None
    if first.returncode != 0:
        problem = first.stderr
    elif run(*command).stdout != first.stdout:
        problem = "the second text differs from the first"
    elif not texts:
        problem = "no kernel"
    elif any(len(text.splitlines()) > MOST_LINES * max(1, text.count("/// Rank")) for text in texts):
        problem = f"a kernel has more than {MOST_LINES} lines a class of ranks"
    elif any(len(line) > 120 for line in first.stdout.splitlines()):
        problem = "a line has more than 120 columns"
    return len(texts), problem


def main():
    coilc, examples = sys.argv[1], Path(sys.argv[2])
    programs = sorted(examples.rglob("*.coil"))
    kernels = failures = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = [(program, ranks, pool.submit(generate, coilc, program, ranks))
                for program in programs for ranks in RANKS]
        for program, ranks, done in runs:
            count, problem = done.result()
            kernels += count
            if problem:
                failures += 1
                print(f"{program}, {ranks} ranks: {problem}")
    print(f"{len(programs)} examples, {kernels} kernels, {failures} failures")
    return 1 if failures or kernels == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
