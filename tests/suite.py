"""python -m tests.suite LANES [PYTEST ARGUMENTS]: the whole suite in lanes, and a second look at what failed in them.

Real browsers, clusters and killed processes share few cores in the lanes. What fails there, if it is not more than a
handful, is run once more with the machine to itself: a fault fails again, and so does the suite. What passes alone is
named under UNSTEADY at the end: a test, or a product, that loses a race, and a thing to mend. Throw-away folders are in
memory where there is room: tests kill processes, never the machine.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

HANDFUL = 5  # more than these is no race that was lost
LANES = ("--dist", "loadfile", "--no-loadscope-reorder")
NOTE = "CLEARINGHOUSE_TEST_FAILED"  # the file into which a session writes what failed
SOME_FAILED = int(pytest.ExitCode.TESTS_FAILED)


def main(lanes: str, arguments: list[str], always: Sequence[str] = ()) -> int:
    from tests.postgres import quick_folder  # here, because a session loads this module as a plugin, before the others

    with tempfile.TemporaryDirectory(prefix="s-", dir=quick_folder()) as folder:
        Path(folder).chmod(0o755)  # some tests start servers as somebody who has no rights
        os.environ["TMPDIR"] = folder
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else each of 1,500 processes compiles the product anew
        return run(["-n", lanes, *LANES, *arguments], always)


def run(arguments: list[str], always: Sequence[str] = ()) -> int:
    """A session with these arguments, and the second look; `always` is said in both."""
    with tempfile.TemporaryDirectory(prefix="failed-") as folder:
        note = Path(folder, "note")
        code, failed = _session([*always, *arguments], note)
        if code != SOME_FAILED or not 0 < len(failed) <= HANDFUL:
            return code
        print(f"\nOnce more, with the machine to themselves: {', '.join(failed)}\n", flush=True)
        code, again = _session([*always, *failed], note)
    for test in failed:
        print(f"{'FAILED TWICE' if test in again else 'UNSTEADY'}  {test}")
    return code


def _session(arguments: list[str], note: Path) -> tuple[int, list[str]]:
    """Its exit code, and what failed."""
    note.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-p", "tests.suite", *arguments]
    code = subprocess.run(command, env=os.environ | {NOTE: str(note)}, check=False).returncode
    return code, note.read_text().splitlines() if note.exists() else []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Of the process that holds the lanes together, and of a session without lanes."""
    reports = terminalreporter.stats.get("failed", []) + terminalreporter.stats.get("error", [])
    if note := os.environ.get(NOTE):
        Path(note).write_text("\n".join(dict.fromkeys(report.nodeid for report in reports)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
