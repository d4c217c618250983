"""Owns: the files in which releases are recorded, and what of the tree they are compared with."""

import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from django.apps import apps

from tests.house.tree import BASE, PACKAGES

FOLDER = Path(__file__).parent / "released"
ALIASES = ("default", "webcrawl", "primary", "backup")
# A site password is sealed with this in every record. It opens nothing else.
KEYS = "record:" + "QUJD" * 10 + "QUI="
_HEADING = re.compile(r"^## (\d+\.\d+\.\d+)(.*)$", re.MULTILINE)


def versions() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.json"))


@cache
def recorded(version: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{version}.json").read_text())
    return found


def headings() -> dict[str, str]:
    """The versions of the CHANGELOG, newest first, and what stands behind each."""
    return {version: rest.strip() for version, rest in _HEADING.findall((BASE / "CHANGELOG.md").read_text())}


def digests() -> dict[str, str]:
    """Every migration of ours, as app.name, and the SHA-256 of its file."""
    return {
        f"{app.label}.{path.stem}": hashlib.sha256(path.read_bytes()).hexdigest()
        for app in apps.get_app_configs()
        if app.name.startswith(PACKAGES)
        for path in sorted(Path(app.path).glob("migrations/0*.py"))
    }
