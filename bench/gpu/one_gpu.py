#!/usr/bin/env python3
"""Runs all examples on the one GPU of this machine and measures what runs there.

Prints a line for each algorithm and number of ranks, all of which share the GPU in one launch:
the time of a call of 4 bytes, the bus bandwidth at 64 MiB and whether every element was right.
Then the primitives against the device's own copies, NCCL where nccl-tests are installed, and
what compute-sanitizer found. The exit code is 0 only if everything ran and was right.

Ranks that share a GPU also share its memory bandwidth, and stand in for GPUs that do not: the
figures compare versions of Coil with each other on one machine, not with a real fabric.
"""

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SMALL, LARGE = 4, 64 << 20


def run(command, timeout=300):
    """Runs a command; gives its exit code and output, both streams."""
    try:
        done = subprocess.run(
            [str(word) for word in command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 124, f"not done after {timeout} s"
    return done.returncode, done.stdout.decode("utf-8", errors="replace")


def run_example(tools, example, ranks, arguments):
    """The results of one run of coil-run on the GPU; an error is a string."""
    command = [tools / "coil-run", example, "-n", ranks, "--target", "cuda"]
    command += ["--ranks-per-gpu", ranks, "--check", "--json", *arguments]
    code, output = run(command)
    start = output.find("{")
    if start < 0:
        return output.strip()
    try:
        results = json.loads(output[start:])["results"]
    except (ValueError, KeyError):
        return output.strip()
    return results if code == 0 or results else output.strip()


def best(results, size, key, choose):
    """The best figure of the rows that are of this size, or none."""
    values = [row[key] for row in results if abs(row["size"] - size) < 64 * 8]
    return choose(values) if values else None


def report_algorithms(tools):
    failed = 0
    print(f"{'algorithm':38} {'ranks':>5} {'4 B (us)':>9} {'64 MiB (GB/s)':>14}  errors")
    for example in sorted((ROOT / "examples").rglob("*.coil")):
        for ranks in (2, 4, 8):
            name = example.relative_to(ROOT / "examples").as_posix()
            results = run_example(
                tools, example, ranks, ["--bytes", f"{SMALL},1M,{LARGE}", "--memory", "both"]
            )
            if isinstance(results, str):
                if "assertion" in results or "must be" in results:
                    continue  # this algorithm is not for so many ranks
                print(f"{name:38} {ranks:5} failed: {results.splitlines()[-1] if results else ''}")
                failed += 1
                continue
            errors = sum(row["errors"] or 0 for row in results)
            failed += errors != 0
            latency = best(results, SMALL, "time_us", min)
            bandwidth = best(results, LARGE, "busbw_gbps", max)
            print(f"{name:38} {ranks:5} {latency:9.2f} {bandwidth:14.1f}  {errors}")
    return failed


def report_sanitizer(tools):
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not Path(sanitizer).exists():
        print("compute-sanitizer: not found")
        return 0
    failed = 0
    for kind in ("memcheck", "racecheck"):
        command = [sanitizer, "--tool", kind, "--target-processes", "all", "--error-exitcode", "9"]
        command += [tools / "coil-run", ROOT / "examples/allreduce/ring.coil", "-n", "2"]
        command += ["--target", "cuda", "--ranks-per-gpu", "2", "--bytes", "4100", "--iters", "1"]
        command += ["--warmup", "0", "--memory", "both", "--check", "--timeout", "120"]
        code, output = run(command)
        lines = [line for line in output.splitlines() if "ERROR SUMMARY" in line or "RACECHECK" in line]
        print(f"compute-sanitizer {kind}: {lines[-1].strip('= ') if lines else f'exit code {code}'}")
        failed += code != 0
    return failed


def report_nccl():
    perf = shutil.which("all_reduce_perf")
    if not perf:
        print("NCCL: nccl-tests not found")
        return
    # NCCL runs one rank a GPU: on one GPU it can only show its cost of a call.
    code, output = run([perf, "-b", "4", "-e", "64M", "-f", "16", "-g", "1"])
    rows = [line.split() for line in output.splitlines() if line[:1] == " " and line.split()]
    for row in rows if code == 0 else []:
        print(f"NCCL, 1 rank: {row[0]} B in {row[5]} us")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="build folder")
    arguments = parser.parse_args()
    tools = (arguments.build / "bin").resolve()
    _, name = run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
    print(f"GPU: {name.strip()}")
    failed = report_algorithms(tools)
    code, output = run([arguments.build / "bench" / "gpu_primitives"])
    print(output.rstrip())
    failed += code != 0
    failed += report_sanitizer(tools)
    report_nccl()
    print("all right" if failed == 0 else f"{failed} failed")
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
