#!/usr/bin/env python3
"""Kills one rank with SIGKILL in the middle of a loop of 64 MiB all-reduces. The others must end
within two seconds with a message that names the lost rank, and leave no process, no shared memory
and nothing in /dev/shm behind. Then the same for the parent of all ranks."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import support

RANKS = 4
MOST_SECONDS = 2.0


class Loop:
    """A coil-run that loops for ever, and the processes of its ranks."""

    def __init__(self, build, memory, log):
        example = support.EXAMPLES / "allreduce" / "ring.coil"
        command = [support.tool(build, "coil-run"), str(example), "-n", str(RANKS)]
        command += ["--bytes", "64M", "--iters", "1000000", "--memory", memory]
        self.log = Path(log)
        with open(log, "wb") as output:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
        self.pids = self.wait_until_running()

    def text(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    def wait_until_running(self):
        """Waits until the ranks are in the loop; gives their process ids."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise support.Failure(f"ended too early:\n{self.text()}")
            pids = {int(r): int(p) for r, p in re.findall(r"Rank +(\d+) Pid +(\d+)", self.text())}
            # Without a limit, the loop is reached when each rank has used some time.
            if len(pids) == RANKS and all(processor_seconds(pid) > 0.5 for pid in pids.values()):
                return pids
            time.sleep(0.05)
        raise support.Failure(f"the ranks did not get into the loop:\n{self.text()}")


def processor_seconds(pid):
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def expect_nothing_left(before, pids):
    """All processes and all shared memory must be gone very soon."""
    deadline = time.monotonic() + MOST_SECONDS
    while True:
        alive = [pid for pid in pids if support.is_alive(pid)]
        left = support.shared_memory() - before
        if not alive and not left:
            return
        if time.monotonic() > deadline:
            raise support.Failure(f"left behind: processes {alive}, {sorted(left)}")
        time.sleep(0.05)


def kill_rank(build, memory, victim, log):
    before = support.shared_memory()
    loop = Loop(build, memory, log)
    start = time.monotonic()
    os.kill(loop.pids[victim], signal.SIGKILL)
    try:
        code = loop.process.wait(timeout=60)
    except subprocess.TimeoutExpired as error:
        loop.process.kill()
        raise support.Failure(f"the others did not end within 60 s:\n{loop.text()}") from error
    seconds = time.monotonic() - start
    print(f"{memory} memory, rank {victim} killed: exit code {code} after {seconds:.2f} s")
    print(loop.text())
    if code <= 0:
        raise support.Failure(f"expected an exit code above 0, found {code}")
    if seconds > MOST_SECONDS:
        raise support.Failure(f"expected an end within {MOST_SECONDS} s, found {seconds:.2f} s")
    if not re.search(rf"coil-run: .*rank {victim} \(pid {loop.pids[victim]}\)", loop.text()):
        raise support.Failure(f"expected a message that names rank {victim}")
    expect_nothing_left(before, loop.pids.values())


def kill_parent(build, log):
    before = support.shared_memory()
    loop = Loop(build, "registered", log)
    loop.process.kill()
    loop.process.wait()
    expect_nothing_left(before, loop.pids.values())
    print("parent killed: nothing is left")


def main():
    build = support.parser(__doc__).parse_args().build
    with tempfile.TemporaryDirectory() as directory:
        for memory, victim in (("registered", 0), ("registered", 2), ("plain", 1)):
            kill_rank(build, memory, victim, Path(directory, f"{memory}-{victim}.log"))
        kill_parent(build, Path(directory, "parent.log"))


if __name__ == "__main__":
    sys.exit(support.main(main))
