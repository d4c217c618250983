"""Owns: how much goes into one transaction, so that it stays short on any machine. Called by: counts, rebuild."""

import time

SHORT, LONG = 0.015, 0.035  # seconds of a transaction: grow below, shrink above; the budget is 50 ms


class TransactionSize:
    """Put around a transaction; `size` says how much the next one should take."""

    def __init__(self, fewest: int, most: int) -> None:
        self.size = self._fewest = fewest
        self._most = most
        self._started = 0.0

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *error: object) -> None:
        spent = time.perf_counter() - self._started
        if spent < SHORT:
            self.size = min(self._most, self.size * 2)
        elif spent > LONG:
            self.size = max(self._fewest, self.size // 2)
