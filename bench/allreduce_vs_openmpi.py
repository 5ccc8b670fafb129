#!/usr/bin/env python3
"""Times all-reduce beside OpenMPI: float sums between processes of this machine, at six sizes.

A round measures OpenMPI as installed, then each of Coil's examples, in registered and in plain
memory. Rounds are interleaved because a machine's speed drifts; a ratio is taken within a round,
and the table shows medians over the rounds. bench/README.md says how to read it.

Needs a release build (cmake --preset release) and the packages openmpi-bin and libopenmpi-dev.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

SOURCE = Path(__file__).resolve().parents[1]
# Calls in a sample, by size: many where one is too short for the clock.
CALLS = {4: 1000, 1 << 10: 1000, 32 << 10: 200, 1 << 20: 20, 16 << 20: 2, 64 << 20: 1}
SAMPLES = 15
ALGORITHMS = ("ring", "allpairs", "recursive_doubling")
MEMORIES = ("registered", "plain")


def size_text(size):
    for shift, unit in ((20, "MiB"), (10, "KiB")):
        if size >= 1 << shift:
            return f"{size >> shift} {unit}"
    return f"{size} B"


def run(command, timeout=600):
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def compile_peer(directory):
    """Compiles the MPI program; gives its path."""
    if not shutil.which("mpicc.openmpi"):
        sys.exit("mpicc.openmpi not found (apt-get install openmpi-bin libopenmpi-dev)")
    program = Path(directory, "mpi_allreduce")
    run(["mpicc.openmpi", "-O2", SOURCE / "bench/peers/mpi_allreduce.c", "-o", program])
    return program


def time_openmpi(program, ranks):
    """Microseconds by size."""
    command = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-np", ranks]
    command += [program, SAMPLES, *(f"{size}:{calls}" for size, calls in CALLS.items())]
    lines = run(command).split("\n")
    return {int(size): float(time) for size, time in (line.split() for line in lines if line)}


def time_coil(coil_run, algorithm, ranks, memory):
    """Microseconds by size, out of place; a size that is repeated is one sample each time."""
    samples = {size: [] for size in CALLS}
    for calls in sorted(set(CALLS.values())):
        sizes = [str(size) for size in CALLS if CALLS[size] == calls for _ in range(SAMPLES)]
        command = [coil_run, SOURCE / "examples/allreduce" / f"{algorithm}.coil", "-n", ranks]
        command += ["--bytes", ",".join(sizes), "--type", "f32", "--op", "sum", "--out-of-place"]
        command += ["--iters", calls, "--memory", memory, "--check", "--json"]
        for result in json.loads(run(command))["results"]:
            samples[result["size"]].append(result["time_us"])
    return {size: median(times) for size, times in samples.items()}


def measure(arguments, peer):
    """For each round, the times by (name, memory) and size; OpenMPI's memory is none."""
    coil_run = arguments.build / "bin" / "coil-run"
    algorithms = [a for a in ALGORITHMS if a != "recursive_doubling" or not arguments.n & (arguments.n - 1)]
    rounds = []
    for number in range(1, arguments.rounds + 1):
        print(f"round {number} of {arguments.rounds}", file=sys.stderr, flush=True)
        times = {("openmpi", None): time_openmpi(peer, arguments.n)}
        for memory in MEMORIES:
            for algorithm in algorithms:
                times[algorithm, memory] = time_coil(coil_run, algorithm, arguments.n, memory)
        rounds.append(times)
    return rounds


def summarise(rounds):
    """Rows of (size, OpenMPI's time, then for each memory: best algorithm, its time, its ratio)."""
    for size in CALLS:
        row = [size, median(times["openmpi", None][size] for times in rounds)]
        for memory in MEMORIES:
            candidates = []
            for name in (key[0] for key in rounds[0] if key[1] == memory):
                time = median(times[name, memory][size] for times in rounds)
                ratio = median(
                    times[name, memory][size] / times["openmpi", None][size] for times in rounds
                )
                candidates.append((ratio, time, name))
            ratio, time, name = min(candidates)
            row += [name, time, ratio]
        yield row


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-n", type=int, default=2, help="processes")
    parser.add_argument("--rounds", type=int, default=4, help="interleaved rounds")
    parser.add_argument("--build", type=Path, default=SOURCE / "build/release", help="build folder")
    parser.add_argument("--json", type=Path, help="also write every round's times here")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        rounds = measure(arguments, compile_peer(directory))
    if arguments.json:
        named = [{" ".join(filter(None, key)): times for key, times in r.items()} for r in rounds]
        arguments.json.write_text(json.dumps(named, indent=2) + "\n", encoding="utf-8")

    print(f"f32 sum all-reduce, {arguments.n} ranks, out of place, medians of {len(rounds)} rounds, us")
    print(f"{'':>8} {'OpenMPI':>11} | {'Coil, registered memory':^36} | {'Coil, plain memory':^36}")
    columns = f"{'algorithm':>18} {'time':>9} {'ratio':>7}"
    print(f"{'size':>8} {'time':>11} | {columns} | {columns}")
    for size, openmpi, *coil in summarise(rounds):
        parts = [f"{coil[i]:>18} {coil[i + 1]:9.2f} {coil[i + 2]:7.2f}" for i in (0, 3)]
        print(f"{size_text(size):>8} {openmpi:11.2f} | {parts[0]} | {parts[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
