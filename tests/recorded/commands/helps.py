"""Owns: what --help says of each command of ours."""

import os
import re
from typing import Any
from unittest import mock

from tests.house.tree import PACKAGES

_WIDTH = {"COLUMNS": "100"}
_EXAMPLE = re.compile(r'"/home/\w+/\w+"')  # Django's, and of no machine


def record(before: dict[str, Any]) -> dict[str, Any]:
    from django.core.management import get_commands, load_command_class

    with mock.patch.dict(os.environ, _WIDTH):
        told = {
            name: _EXAMPLE.sub('"<folder>"', _help(load_command_class(app, name), name)).splitlines()
            for name, app in get_commands().items()
            if app.partition(".")[0] in PACKAGES
        }
    return {"command-help.json": told}


def _help(command: Any, name: str) -> str:
    return str(command.create_parser("manage.py", name).format_help())
