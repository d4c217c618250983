"""Owns: the suites of others, run from where they lie. Does not: carry any of their data.

CLEARINGHOUSE_SUITES names a folder that holds, for each module here, the folder the module calls FOLDER: a copy (git
clone, unpacked archive) of the project whose cases it runs. `python -m tests.suites` runs every suite that is there and
prints the table for docs/figures.md; what is missing is NOT RUN. `make suites ARGS="NAME…"` is the same.

A module of this package is a suite when it has

    NAME = "as the table calls it"
    FOLDER = "folder inside CLEARINGHOUSE_SUITES"
    def run(folder: Path) -> Result: ...

A case that ends otherwise than its suite says is either a fault of ours, and fails `python -m tests.suites`, or a
difference by design: then the module explains it in one line of Result.differences.
"""

import importlib
import os
import pkgutil
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType


@dataclass
class Result:
    """What became of the cases of one suite."""

    cases: int = 0
    passed: int = 0
    differences: list[str] = field(default_factory=list)  # by design: one line each, with the reason
    faults: list[str] = field(default_factory=list)  # what nobody explains: which case, what we say and what it says

    def judge(self, case: str, ours: object, theirs: object) -> bool:
        """Count one case; it is a fault when the two are not the same."""
        self.cases += 1
        if ours == theirs:
            self.passed += 1
            return True
        self.faults.append(f"{case}: ours {ours!r:.160}, theirs {theirs!r:.160}")
        return False

    def differ(self, reason: str, cases: int = 1) -> None:
        """Count cases that differ by design; the reason stands in the table once."""
        self.cases += cases
        if reason not in self.differences:
            self.differences.append(reason)


def suites() -> dict[str, ModuleType]:
    """The modules of this package that are suites, by the name of their file."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith(("_", "test_")):
            loaded = importlib.import_module(f"{__name__}.{module.name}")
            if hasattr(loaded, "FOLDER"):
                found[module.name] = loaded
    return dict(sorted(found.items()))


def folder_of(suite: ModuleType) -> Path | None:
    """Where the cases of a suite lie on this machine; None when they are not here."""
    place = os.environ.get("CLEARINGHOUSE_SUITES", "")
    path = Path(place) / suite.FOLDER
    return path if place and path.is_dir() else None
