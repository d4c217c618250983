"""A production server refuses to start unsafely, with one clear sentence; with good settings the checks are clean."""

import base64
import os
import secrets
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.test import RequestFactory

from clearinghouse.accounts.views import fault

ROOT = Path(__file__).resolve().parents[2]
GOOD = {
    "CLEARINGHOUSE_ENV": "production",
    "CLEARINGHOUSE_SECRET_KEY": secrets.token_urlsafe(60),
    "CLEARINGHOUSE_ALLOWED_HOSTS": "clearinghouse.example.org",
    "CLEARINGHOUSE_CREDENTIAL_KEYS": "one:" + base64.b64encode(secrets.token_bytes(32)).decode(),
}


def start(folder: Path, *arguments: str, **changed: str | None) -> subprocess.CompletedProcess[str]:
    """manage.py in a process of its own, with nothing of ours in the environment but what is given."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CLEARINGHOUSE_")}
    for ours in ("DJANGO_SETTINGS_MODULE", "DJANGO_ALLOW_ASYNC_UNSAFE"):  # set by pytest and tests.settings
        environment.pop(ours, None)
    environment |= GOOD | {"CLEARINGHOUSE_VAR": str(folder)}
    for name, value in changed.items():
        environment.pop(name, None)
        if value is not None:
            environment[name] = value
    command = [sys.executable, "manage.py", *(arguments or ("check",))]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120)


def test_with_good_settings_the_deployment_check_is_clean(tmp_path: Path) -> None:
    done = start(tmp_path, "check", "--deploy", "--fail-level", "WARNING")
    assert done.returncode == 0, done.stderr
    assert "WARNINGS" not in done.stderr
    assert "0 silenced" in done.stdout + done.stderr


def test_mails_whose_links_lead_nowhere_are_told_before_the_start(tmp_path: Path) -> None:
    mail = {"CLEARINGHOUSE_MAIL": "smtp://mail.example.org", "CLEARINGHOUSE_PUBLIC_URL": None}
    done = start(tmp_path, "check", "--deploy", "--tag", "mail", "--fail-level", "WARNING", **mail)
    assert done.returncode != 0 and "Set CLEARINGHOUSE_PUBLIC_URL" in done.stderr
    mail["CLEARINGHOUSE_PUBLIC_URL"] = "https://clearinghouse.example.org"
    assert start(tmp_path, "check", "--deploy", "--tag", "mail", "--fail-level", "WARNING", **mail).returncode == 0


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"CLEARINGHOUSE_SECRET_KEY": None}, "Set CLEARINGHOUSE_SECRET_KEY"),
        ({"CLEARINGHOUSE_SECRET_KEY": "short"}, "at least 50 random characters"),
        ({"CLEARINGHOUSE_CREDENTIAL_KEYS": None}, "Set CLEARINGHOUSE_CREDENTIAL_KEYS"),
        ({"CLEARINGHOUSE_CREDENTIAL_KEYS": "nonsense"}, "entry 1 must be id:base64"),
        ({"CLEARINGHOUSE_CREDENTIAL_KEYS": "one:QUJD"}, "3 bytes instead of 32"),
        ({"CLEARINGHOUSE_DEBUG": "1"}, "CLEARINGHOUSE_DEBUG=1 is refused"),
        ({"CLEARINGHOUSE_ALLOWED_HOSTS": None}, "Set CLEARINGHOUSE_ALLOWED_HOSTS"),
        ({"CLEARINGHOUSE_ALLOWED_HOSTS": "*"}, "* is refused"),
        ({"CLEARINGHOUSE_PUBLIC_URL": "clearinghouse.example.org"}, "must be an address like https://"),
        ({"CLEARINGHOUSE_BEHIND_PROXY": "nginx"}, "CLEARINGHOUSE_BEHIND_PROXY is 0, 1 or addresses"),
    ],
)
def test_production_refuses_to_start(tmp_path: Path, changed: dict[str, str | None], sentence: str) -> None:
    done = start(tmp_path, **changed)
    assert done.returncode != 0
    assert sentence in done.stderr.strip().splitlines()[-1]
    for secret in (GOOD["CLEARINGHOUSE_SECRET_KEY"], GOOD["CLEARINGHOUSE_CREDENTIAL_KEYS"].partition(":")[2]):
        assert secret not in done.stderr + done.stdout


def test_production_makes_no_key_by_itself(tmp_path: Path) -> None:
    start(tmp_path)
    assert not list(tmp_path.glob("*.key*"))


def test_a_development_install_makes_its_keys_readable_by_nobody_else(tmp_path: Path) -> None:
    none = {"CLEARINGHOUSE_SECRET_KEY": None, "CLEARINGHOUSE_CREDENTIAL_KEYS": None, "CLEARINGHOUSE_ENV": None}
    assert start(tmp_path, **none).returncode == 0
    for name in ("secret.key", "credential.keys"):
        path = tmp_path / name
        assert path.stat().st_mode & 0o777 == 0o600
    before = (tmp_path / "credential.keys").read_text()
    start(tmp_path, **none)
    assert (tmp_path / "credential.keys").read_text() == before


def test_the_page_of_a_fault_finds_its_style_sheet_and_comes_without_one_too(settings: Any) -> None:
    page = fault(RequestFactory().get("/documents/"))
    assert page.status_code == 500 and 'href="/static/app.css"' in page.content.decode()
    storage = "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"
    settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": storage}}
    uncollected = fault(RequestFactory().get("/documents/"))
    assert uncollected.status_code == 500 and 'href="/static/app.css"' in uncollected.content.decode()


def test_the_folder_of_all_state_is_closed_to_other_users(tmp_path: Path) -> None:
    """Sessions, sealed passwords and the index lie in it as files that anybody could read otherwise."""
    before = os.umask(0o022)
    try:
        assert start(tmp_path / "state" / "var").returncode == 0
    finally:
        os.umask(before)
    assert (tmp_path / "state" / "var").stat().st_mode & 0o777 == 0o700
