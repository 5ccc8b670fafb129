#!/usr/bin/env python3
"""Plants mistakes in the device library and expects the emulation to catch each.

What runs without a GPU proves something only if it fails where a GPU would. Each mistake below is
one that an x86 host would mostly forgive: an order weakened, a scope too small, a wait left out, a
flag or an index off by one. The library as it is must pass the same run.
"""

import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import support

HEADERS = "runtime/kernels/device"


@dataclass(frozen=True)
class Mistake:
    name: str
    header: str
    right: str
    wrong: str
    protocol: str = "simple"
    example: str = "allreduce/ring.coil"


# Here nothing comes back to the sender but freed slots.
ONE_WAY = "broadcast/chain.coil"
SYSTEM, DEVICE = "Scope::System", "Scope::Device"
SIGNAL = f"storeRelease<{SYSTEM}>(end.counter, ++end.ordinal)"
FREE = f"storeRelease<{SYSTEM}>(end.freed, ++end.ordinal)"
POST = f"storeRelease<{SYSTEM}>(&header->ordinal, ordinal)"
ENTER = f"storeRelease<{SYSTEM}>(&record->call, runningCall(state))"
ACQUIRE = "u64 found = loadAcquire<scope>(counter);"

MISTAKES = (
    Mistake("signal is relaxed", "Operations.h", SIGNAL, SIGNAL.replace("Release", "Relaxed")),
    Mistake("signal has the device's scope", "Operations.h", SIGNAL, SIGNAL.replace(SYSTEM, DEVICE)),
    Mistake("signal counts two", "Operations.h", SIGNAL, SIGNAL.replace("++end.ordinal", "end.ordinal += 2")),
    Mistake("waits are relaxed", "Waiting.h", ACQUIRE, ACQUIRE.replace("Acquire", "Relaxed")),
    Mistake("waits have the device's scope", "Waiting.h", ACQUIRE, ACQUIRE.replace("scope", DEVICE)),
    Mistake(
        "wait does not wait",
        "Operations.h",
        f"ended = awaitCounter<{SYSTEM}>(blockFacts(), end.counter, obstacle) == 0;",
        "ended = obstacle.expected == 0;",
    ),
    Mistake("a message's header is relaxed", "SimpleFifo.h", POST, POST.replace("Release", "Relaxed")),
    Mistake("a message's ordinal is off by one", "SimpleFifo.h", POST, POST.replace(" ordinal", " ordinal - 1")),
    Mistake("entering is relaxed", "Block.h", ENTER, ENTER.replace("Release", "Relaxed")),
    Mistake("freeing is relaxed", "Operations.h", FREE, FREE.replace("Release", "Relaxed"), example=ONE_WAY),
    Mistake("freeing is relaxed, ll", "Operations.h", FREE, FREE.replace("Release", "Relaxed"), "ll"),
    Mistake(
        "a slot too many is filled",
        "Operations.h",
        "if (end.ordinal < end.freedSeen + end.slotCount)",
        "if (end.ordinal <= end.freedSeen + end.slotCount)",
        example=ONE_WAY,
    ),
    Mistake(
        "the block is not synchronised before a header",
        "Operations.h",
        """scales, count, terms);
    syncBlock();
    if (threadIndex() == 0)
      postSimple""",
        """scales, count, terms);
    if (threadIndex() == 0)
      postSimple""",
    ),
    # Nothing is wrong with its order: only the comparison on the device can tell.
    Mistake(
        "a sum loses an operand",
        "Operators.h",
        """struct Sum {
  static constexpr bool scales = false, divides = false;
  template <typename T> COIL_DEVICE static T combine(T a, T b) { return wrappingSum(a, b); }""",
        """struct Sum {
  static constexpr bool scales = false, divides = false;
  template <typename T> COIL_DEVICE static T combine(T, T b) { return b; }""",
    ),
    Mistake(
        "ll's flags are the message before's",
        "LowLatency.h",
        "u32 flag = llFlag(ordinal);",
        "u32 flag = llFlag(ordinal - 1);",
        "ll",
    ),
    Mistake(
        "ll looks at one flag of two",
        "LowLatency.h",
        "return packet.first >> 32 == flag && packet.second >> 32 == flag;",
        "return packet.first >> 32 == flag;",
        "ll",
    ),
    Mistake(
        "ll128 takes any flag",
        "LowLatency128.h",
        "bool missing = line != nullptr && holdsFlag() && pair.second != message;",
        "bool missing = line != nullptr && holdsFlag() && pair.second == 0;",
        "ll128",
    ),
)


def plant(mistake, folder):
    """A copy of the headers with the mistake in it."""
    source = support.SOURCE / HEADERS
    target = Path(folder) / HEADERS
    target.mkdir(parents=True)
    for header in source.glob("*.h"):
        text = header.read_text(encoding="utf-8")
        if mistake and header.name == mistake.header:
            if text.count(mistake.right) != 1:
                raise support.Failure(
                    f"{mistake.name}: expected '{mistake.right}' once in {header.name}, "
                    f"found it {text.count(mistake.right)} times"
                )
            text = text.replace(mistake.right, mistake.wrong)
        (target / header.name).write_text(text, encoding="utf-8")


def run(arguments, mistake, protocol, example):
    """Exit code and output of a run with the mistake, or with none."""
    with tempfile.TemporaryDirectory() as folder:
        plant(mistake, folder)
        environment = {
            "COIL_EMULATED_HEADERS": folder,
            "COIL_EMULATED_TRACK": "1",
            "COIL_CACHE_DIR": str(Path(folder) / "cache"),
        }
        words = [support.tool(arguments.build, "coil-run")]
        words += [support.EXAMPLES / example, "-n", 3]
        words += ["--target", "cuda-emulated", "--ranks-per-gpu", 1, "--threads"]
        words += ["--protocol", protocol, "--memory", "both", "--direct-bytes", 0]
        words += ["--slot-bytes", 512, "--instances", 1, "--threads-per-block", 64]
        words += ["--count", 1003, "--check", "--warmup", 0, "--iters", 2]
        words += ["--timeout", 10]
        return support.run(words, timeout=300, environment={**os.environ, **environment})


def main():
    arguments = support.parser(__doc__).parse_args()
    start = time.monotonic()
    for protocol in ("simple", "ll", "ll128"):
        for example in sorted({mistake.example for mistake in MISTAKES}):
            code, output = run(arguments, None, protocol, example)
            if code != 0:
                raise support.Failure(f"the library as it is, {example}, {protocol}: {output}")

    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(lambda it: run(arguments, it, it.protocol, it.example), MISTAKES))
    survivors = []
    for mistake, (code, output) in zip(MISTAKES, ends):
        # A kernel that does not compile would be caught by anything.
        if "cannot compile" in output:
            raise support.Failure(f"{mistake.name}: does not compile\n{output}")
        how = "by its accesses" if "emulated CUDA" in output else "by a wrong result or a time-out"
        print(f"{mistake.name}: {'survived' if code == 0 else f'caught {how}'}", flush=True)
        if code == 0:
            survivors.append(mistake.name)
    print(f"{len(MISTAKES)} mistakes, {len(survivors)} survived, {time.monotonic() - start:.0f} s")
    if survivors:
        raise support.Failure(f"not caught: {', '.join(survivors)}")


if __name__ == "__main__":
    sys.exit(support.main(main))
