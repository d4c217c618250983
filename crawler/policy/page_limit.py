"""Owns: how many pages a crawl point may still have. Pure. Called by: frontier."""

from dataclasses import dataclass


@dataclass(slots=True)
class PageLimit:
    """A crawl point's maximum pages: what is used for good, and what is promised to requests under way."""

    maximum: int
    used: int = 0
    reserved: int = 0

    @property
    def room(self) -> bool:
        return not self.maximum or self.used + self.reserved < self.maximum

    @property
    def full(self) -> bool:
        return bool(self.maximum) and self.used >= self.maximum
