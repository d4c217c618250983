"""The short form of python -m tests.hostile, in a process of its own because it measures memory."""

import subprocess
import sys

from tests.proves import proves


def hostile(*options: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tests.hostile", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@proves("I10", "I12", "D7", "D9", "D10", "E9", "E18", "goal 12", "goal 13", "goal 14")
def test_hostile_answers_documents_and_bombs_do_no_harm() -> None:
    done = hostile("--responses", "200", "--documents", "1500", "--addresses", "3000", "--links", "0")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("1500 broken documents")
    assert "200 broken answers" in done.stdout and "3000 malformed addresses" in done.stdout
    assert done.stdout.count("hold 300,000,000") == 8
    assert "\n0 faults" in done.stdout and "ONLY" not in done.stdout


def test_a_part_can_be_run_alone_and_says_when_its_minutes_were_over() -> None:
    done = hostile("--only", "documents", "--only", "links", "--minutes", "0")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ONLY 0 of 50,000" in done.stdout and "ONLY 0 of 1,000,000" in done.stdout
    assert "answers" not in done.stdout and "hold" not in done.stdout
