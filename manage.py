#!/usr/bin/env python
"""The one door to every command: manage.py COMMAND --help."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.core.management.base import BaseCommand


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clearinghouse.settings")
    gc.disable()  # nothing of what is imported is garbage: a third of what a start took was looking for some
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import ManagementUtility, get_commands

    class Door(ManagementUtility):
        def fetch_command(self, subcommand: str) -> BaseCommand:
            gc.freeze()
            gc.enable()
            if settings.INSTALLED_APPS and subcommand not in get_commands():  # else only those of Django are known
                sys.stderr.write(f"There is no command {subcommand!r}; see manage.py help\n")
                sys.exit(2)  # wrong use
            return super().fetch_command(subcommand)

    try:
        Door(sys.argv).execute()
    except ImproperlyConfigured as problem:  # a sentence about a setting: where it was found out helps nobody
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
