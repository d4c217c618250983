"""Skips are honest: named at the end, and failures where the kind is required."""

import os
import subprocess
import sys
from pathlib import Path

from tests.house.tree import BASE

A_TEST = """
from tests.requirements import need

def test_with_a_browser():
    need("browser", False, "there is none in this test")
"""


def run(folder: Path, required: str) -> subprocess.CompletedProcess:
    (folder / "test_it.py").write_text(A_TEST)
    command = [sys.executable, "-m", "pytest", "-c", "/dev/null", "-p", "tests.requirements", "-p", "no:django"]
    environment = os.environ | {"CLEARINGHOUSE_REQUIRE": required, "PYTHONPATH": str(BASE)}
    return subprocess.run(
        [*command, str(folder)], cwd=BASE, env=environment, capture_output=True, text=True, timeout=60
    )


def test_what_is_missing_is_skipped_and_named_at_the_end(tmp_path):
    done = run(tmp_path, "")
    assert done.returncode == 0
    assert "NOT RUN     1  needs browser: there is none in this test" in done.stdout
    assert "1 skipped" in done.stdout


def test_what_is_required_fails_when_it_is_missing(tmp_path):
    done = run(tmp_path, "postgres,browser")
    assert done.returncode == 1
    assert "browser is required here, but there is none in this test" in done.stdout


def test_an_unknown_requirement_is_refused(tmp_path):
    done = run(tmp_path, "bowser")
    assert done.returncode == 4
    assert "bowser" in done.stderr
