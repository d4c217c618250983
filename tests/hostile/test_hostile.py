"""The short form of python -m tests.hostile, in a process of its own because it measures memory."""

import subprocess
import sys


def test_hostile_answers_documents_and_bombs_do_no_harm() -> None:
    command = [sys.executable, "-m", "tests.hostile", "--responses", "200", "--documents", "1500", "--links", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("1500 broken documents")
    assert "200 broken answers" in done.stdout
    assert done.stdout.count("hold 300,000,000") == 8
    assert "\n0 faults" in done.stdout
