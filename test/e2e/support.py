"""What the end-to-end tests share: the tools, how to run them, and what a run may leave behind."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
EXAMPLES = SOURCE / "examples"


class Failure(Exception):
    """A test's expectation that does not hold; the text says which."""


def parser(description):
    """An argument parser that knows where the build is."""
    result = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    result.add_argument("--build", type=Path, default=SOURCE / "build" / "dev", help="build folder")
    return result


def tool(build, name):
    """The absolute path of a tool of the build."""
    path = (build / "bin" / name).resolve()
    if not path.exists():
        raise Failure(f"{path} not found; build first, or name another folder with --build")
    return str(path)


def run(command, timeout=120, environment=None):
    """Runs a command; gives its exit code (negative: a signal) and all that it printed."""
    command = [str(word) for word in command]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Failure(f"{' '.join(command)}: not done after {timeout} s") from error
    return done.returncode, done.stdout.decode("utf-8", errors="replace")


def run_well(command, timeout=120, environment=None):
    """Runs a command that must succeed; gives what it printed."""
    code, output = run(command, timeout, environment)
    if code != 0:
        raise Failure(f"{' '.join(str(word) for word in command)}: exit code {code}\n{output}")
    return output


def expect_clean_error(command, timeout=60, environment=None):
    """Runs a command that must end with an error message, and neither crash nor
    succeed; gives what it printed."""
    code, output = run(command, timeout, environment)
    text = " ".join(str(word) for word in command)
    if code == 0:
        raise Failure(f"{text}: expected an error, but it succeeded\n{output}")
    if code < 0 or code >= 128 or "Sanitizer" in output or "runtime error:" in output:
        raise Failure(f"{text}: expected an error message, found a crash (exit code {code})\n{output}")
    if not output.strip():
        raise Failure(f"{text}: exit code {code} without a message")
    return output


def children(pid):
    """All living descendants of a process."""
    result = []
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        found = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []
    for child in found:
        result += [child, *children(child)]
    return result


def is_alive(pid):
    """Whether a process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


def shared_memory():
    """What stands in /dev/shm, and which process holds which of Coil's memfds."""
    found = {f"/dev/shm/{name}" for name in os.listdir("/dev/shm")}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            descriptors = list((entry / "fd").iterdir())
        except OSError:
            continue
        for descriptor in descriptors:
            try:
                target = os.readlink(descriptor)
            except OSError:
                continue
            if target.startswith("/memfd:coil"):
                found.add(f"process {entry.name}: {target}")
    return found


def main(test):
    """Runs a test function and turns a Failure into a message and an exit code."""
    try:
        test()
    except Failure as failure:
        print(f"FAILED: {failure}", file=sys.stderr)
        return 1
    print("passed")
    return 0
