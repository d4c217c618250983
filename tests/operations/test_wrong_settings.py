"""A setting that cannot be meant ends every command at once, with one line that names it; no traceback, no password."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def say(folder: Path, name: str, value: str) -> list[str]:
    environment = {key: word for key, word in os.environ.items() if not key.startswith("CLEARINGHOUSE_")}
    for ours in ("DJANGO_SETTINGS_MODULE", "DJANGO_ALLOW_ASYNC_UNSAFE"):  # set by pytest and tests.settings
        environment.pop(ours, None)
    environment |= {"CLEARINGHOUSE_VAR": str(folder), f"CLEARINGHOUSE_{name}": value}
    command = [sys.executable, "manage.py", "runs"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr.splitlines()


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("ENV", "prod", "development or production; it is 'prod'"),
        ("DEBUG", "maybe", "0 or 1; it is 'maybe'"),
        ("LOG_LEVEL", "LOUD", "DEBUG or INFO or WARNING or ERROR or CRITICAL; it is 'LOUD'"),
        ("LOG_FORMAT", "xml", "text or json; it is 'xml'"),
        ("TIME_ZONE", "Mars/Base", "a time zone like Europe/Vienna; it is 'Mars/Base'"),
        ("SPEED", "warp", "polite or medium or fast; it is 'warp'"),
        ("HOST_PATIENCE", "-1", "a whole number; it is '-1'"),
        ("PORT", "99999", "a port, 1 to 65535; it is '99999'"),
        ("CONTACT", "a\r\nCookie: b", r"one line; it is 'a\r\nCookie: b'"),
        ("MAIL", "clerk:secret@host", "smtp://… or smtps://…"),
        ("MAIL", "smtp://clerk:secret/x@host", "smtp://… or smtps://…"),
        ("DB_PRIMARY", "postgres://clerk:se/cret@host/x", "sqlite:///…, postgres://… or mssql://…; what is special in "
                                                          "a password is written like %40"),
        ("DB", "oracle://clerk:secret@host/x", "sqlite:///…, postgres://… or mssql://…; what is special in a password "
                                               "is written like %40"),
    ],
)  # fmt: skip
def test_a_setting_that_cannot_be_meant_is_named_in_one_line(
    tmp_path: Path, name: str, value: str, wanted: str
) -> None:
    assert say(tmp_path, name, value) == [f"CLEARINGHOUSE_{name} must be {wanted}"]


def test_a_folder_that_cannot_be_made_is_named_with_its_setting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    line = "cannot be made: Not a directory. Let CLEARINGHOUSE_VAR name one that can be written"
    assert say(tmp_path, "VAR", str(tmp_path / "file" / "var")) == [f"The folder {tmp_path}/file/var {line}"]


@pytest.mark.parametrize("name", ["CREDENTIAL_KEYS", "BEHIND_PROXY"])
def test_lists_are_read_before_anything_begins_and_said_in_one_line(tmp_path: Path, name: str) -> None:
    (line,) = say(tmp_path, name, "nonsense, more")
    assert f"CLEARINGHOUSE_{name}" in line
