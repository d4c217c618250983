""".ci/audit with a pip-audit that finds something, finds nothing, or reaches nobody: only a weakness fails."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.house.tree import BASE

SOUND = {"name": "django", "version": "5.2", "vulns": []}
WEAK = {"name": "lxml", "version": "6.1", "vulns": [{"id": "CVE-2026-1", "fix_versions": ["6.2"]}]}
UNKNOWN = {"name": "rq", "skip_reason": "Dependency not found and could not be audited: rq"}


@pytest.fixture(autouse=True)
def no_real_one() -> None:
    if find_spec("pip_audit"):
        pytest.skip("pip-audit itself is installed here, and would be asked")


def audit(folder: Path, script: str = "") -> tuple[int, str]:
    """With a pip-audit on the PATH that does this; without any when it is empty."""
    if script:
        (folder / "pip-audit").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "pip-audit").chmod(0o755)
    environment = os.environ | {"PATH": f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin"}
    command = [str(BASE / ".ci" / "audit"), sys.executable]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout


def says(*dependencies: dict) -> str:
    return f"echo '{json.dumps({'dependencies': dependencies})}'"


def test_without_pip_audit_it_was_not_run(tmp_path: Path) -> None:
    code, said = audit(tmp_path)
    assert code == 0 and said.startswith("NOT RUN: pip-audit is not installed")


def test_a_source_that_cannot_be_reached_is_named_and_fails_nothing(tmp_path: Path) -> None:
    code, said = audit(tmp_path, "echo Traceback >&2; echo 'ConnectionError: no such host' >&2; exit 1")
    assert (code, said) == (0, "NOT RUN: nobody could be asked: ConnectionError: no such host\n")


def test_a_source_that_knows_none_of_our_dependencies_was_not_asked(tmp_path: Path) -> None:
    code, said = audit(tmp_path, says(UNKNOWN))
    assert (code, said) == (0, f"NOT RUN: nobody could be asked: {UNKNOWN['skip_reason']}\n")


def test_what_is_sound_is_counted_and_what_nobody_knows_is_named(tmp_path: Path) -> None:
    code, said = audit(tmp_path, says(SOUND, UNKNOWN))
    assert (code, said) == (0, "1 dependencies asked about, 0 known weaknesses; not asked: rq\n")


def test_a_weakness_fails_and_says_where_it_is_mended(tmp_path: Path) -> None:
    code, said = audit(tmp_path, says(SOUND, WEAK) + "; exit 1")
    assert code == 1 and "lxml 6.1: CVE-2026-1, mended in 6.2\n" in said


def test_it_asks_about_the_dependencies_of_the_project_not_its_own(tmp_path: Path) -> None:
    audit(tmp_path, f'echo "$PIPAPI_PYTHON_LOCATION" >{tmp_path}/asked')
    assert (tmp_path / "asked").read_text() == f"{sys.executable}\n"
