"""Owns: for how many days things are kept (CLEARINGHOUSE_KEEP), and how many crawls of a document in any case.

Does not: delete. Called by: whoever forgets rows of its own, and crawler.upkeep.pruning. The audit has no entry here:
it is append-only, and a record that the house shortens by itself proves nothing.
"""

from datetime import datetime, timedelta

from .. import env

KINDS = ("runs", "log", "notices", "previews", "searches")


def parse(text: str) -> dict[str, int]:
    """Days by kind, of a text like runs:400,log:90; raises ValueError with a sentence. Pure."""
    found = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        kind, colon, days = part.partition(":")
        if kind not in KINDS or not colon or not days.isdecimal():
            raise ValueError(f"{env.PREFIX}KEEP: {part!r} is none of {', '.join(f'{one}:DAYS' for one in KINDS)}")
        found[kind] = int(days)
    return found


def days(kind: str) -> int:
    """0: for ever. What the operator does not name keeps its default."""
    default = next(one.default for one in env.SETTINGS if one.name == "KEEP")
    try:
        return (parse(default) | parse(env.text("KEEP")))[kind]
    except ValueError as error:
        raise SystemExit(str(error)) from None


def cutoff(kind: str, now: datetime) -> datetime | None:
    """What is older may go; None while nothing may."""
    kept = days(kind)
    return now - timedelta(days=kept) if kept else None


def newest_kept() -> int:
    return max(1, env.number("KEEP_LAST"))
