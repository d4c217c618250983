"""Owns: what --help says of each command of ours."""

import os
from typing import Any
from unittest import mock

from tests.house.tree import PACKAGES

_WIDTH = {"COLUMNS": "100"}


def record(before: dict[str, Any]) -> dict[str, Any]:
    from django.core.management import get_commands, load_command_class

    with mock.patch.dict(os.environ, _WIDTH):
        told = {
            name: load_command_class(app, name).create_parser("manage.py", name).format_help().splitlines()
            for name, app in get_commands().items()
            if app.partition(".")[0] in PACKAGES
        }
    return {"command-help.json": told}
