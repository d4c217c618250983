"""Owns: what two records of the same thing differ in, in plain words: added, removed, changed. Does not: read files."""

import json
from collections.abc import Iterator
from typing import Any

_LONGEST = 160
_NOTHING = object()


def differences(before: Any, now: Any, place: tuple[str, ...] = ()) -> Iterator[str]:
    """One line for each difference, at the innermost place that both have."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in sorted(before.keys() | now.keys()):
            yield from differences(before.get(name, _NOTHING), now.get(name, _NOTHING), (*place, name))
    elif isinstance(before, list) and isinstance(now, list):
        yield from _of_lists(before, now, place)
    elif before is _NOTHING:
        yield f"added    {_named(place)}: {_shown(now)}"
    elif now is _NOTHING:
        yield f"removed  {_named(place)}: {_shown(before)}"
    elif before != now or type(before) is not type(now):
        yield f"changed  {_named(place)}: was {_shown(before)}, is {_shown(now)}"


def _of_lists(before: list[Any], now: list[Any], place: tuple[str, ...]) -> Iterator[str]:
    """By position where they are equally long; else what one has and the other has not."""
    if len(before) == len(now):
        for number, (old, new) in enumerate(zip(before, now, strict=True), start=1):
            yield from differences(old, new, (*place, str(number)))
        return
    old, new = [_whole(one) for one in before], [_whole(one) for one in now]
    gone, come = _without(old, new), _without(new, old)
    for one in gone:
        yield f"removed  {_named(place)}: {_short(one)}"
    for one in come:
        yield f"added    {_named(place)}: {_short(one)}"


def _without(these: list[str], those: list[str]) -> list[str]:
    left = list(those)
    found = []
    for one in these:
        if one in left:
            left.remove(one)
        else:
            found.append(one)
    return found


def _named(place: tuple[str, ...]) -> str:
    return " > ".join(place)


def _whole(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _shown(value: Any) -> str:
    return _short(_whole(value))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + " …"
