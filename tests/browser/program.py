"""Owns: which browser the tests drive, and how it is started."""

import shutil

# The shell is the same engine without the windows nobody sees: about half the processor time.
NAMES = ("chromium-headless-shell", "chromium")
FLAGS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--no-first-run"]


def found() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)
