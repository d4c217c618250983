"""A monotonic clock that goes on only when a test says so."""

from types import ModuleType

import pytest


class Clock:
    """`now` is what the clock shows."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


def stopped(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock this module reads from now on."""
    clock = Clock()
    monkeypatch.setattr(module.time, "monotonic", clock.monotonic)
    return clock
