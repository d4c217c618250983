"""When a request may go that is not the first one of its page: the rest of a handshake, a sign-in, a second try.

The instance gives them the turn of their site, as it does for pages (design rule 11); alone, a fetcher sends at once.
"""

from collections.abc import Callable
from typing import Protocol


class Slots(Protocol):
    def again(self, origin: str, go: Callable[[], None]) -> None:
        """A request to this site ended and is followed by another one for the same page: `go` sends it."""

    def take(self, origin: str, go: Callable[[], None]) -> None:
        """A request that belongs to no page of this site: `go` sends it, done() follows when it has ended."""

    def done(self, origin: str) -> None: ...


class AtOnce:
    """Nobody else asks these sites for anything."""

    def again(self, origin: str, go: Callable[[], None]) -> None:
        go()

    def take(self, origin: str, go: Callable[[], None]) -> None:
        go()

    def done(self, origin: str) -> None:
        """There is nobody to tell."""
