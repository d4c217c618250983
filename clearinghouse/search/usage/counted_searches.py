"""Owns: what is kept of a search, and whose searches count. Pure.

Mail addresses and long numbers are taken out of the words: they may say who somebody is. Called by: the public
search, services.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

LONGEST = 200
OTHERS = "(other queries)"  # what a day had beyond its most rows

_MAIL = re.compile(r"\S+@\S+")
_LONG_NUMBER = re.compile(r"\+?\d(?:[\s./-]?\d){6,}")
_ROBOT = re.compile(
    r"bot\b|bot/|crawl|spider|slurp|archiver|curl|wget|python|httpclient|java/|go-http|headless|monitor"
)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u200b-\u200f\u202a-\u202e\ufeff]")


@dataclass(slots=True)
class Sums:
    searches: int = 0
    empty: int = 0
    found: int = 0
    opened: int = 0


def query_text(text: str) -> str:
    """A query as it is counted: small letters, single spaces, nothing that names a person; empty: do not count."""
    text = _UNPRINTABLE.sub(" ", text[: 5 * LONGEST]).lower()
    text = _LONG_NUMBER.sub("(number)", _MAIL.sub("(mail address)", text))
    return " ".join(text.split())[:LONGEST].strip()


def is_person(agent: str) -> bool:
    """Whether a browser asks, by what it says of itself: programs that hide are counted, as nobody can tell."""
    return bool(agent) and not _ROBOT.search(agent.lower())


def searched(text: str, found: int, day: date) -> dict[str, Any]:
    return {"day": day.isoformat(), "q": query_text(text), "n": found}


def opened(text: str, day: date) -> dict[str, Any]:
    return {"day": day.isoformat(), "q": query_text(text), "open": 1}


def summed(lines: Iterable[dict[str, Any]]) -> dict[tuple[date, str], Sums]:
    """Day and query -> counts. Lines that are not as we write them are left out."""
    found: dict[tuple[date, str], Sums] = {}
    for line in lines:
        day, text, pages = _day(line.get("day")), line.get("q"), line.get("n")
        if day is None or not (isinstance(text, str) and text):
            continue
        sums = found.setdefault((day, text[:LONGEST]), Sums())
        if "open" in line:
            sums.opened += 1
        elif isinstance(pages, int):
            sums.searches += 1
            sums.empty += pages == 0
            sums.found = pages
    return found


def _day(text: Any) -> date | None:
    try:
        return date.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
