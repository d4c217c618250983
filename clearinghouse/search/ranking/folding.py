"""Owns: what a list of results shows of many pages: one address of several documents as one, pages that are alike as
one, two of a folder of a site. Pure.

Pages are folded only beside others: where all come from one site there is nobody to make room for, and nothing of
a folder is put away. Called by: the engine.
"""

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..page_facts import PageFacts, Summed

OF_A_FOLDER = 2


@dataclass(slots=True)
class Folded:
    """The rows shown, best first; what stands behind some of them."""

    rows: "array[int]" = field(default_factory=lambda: array("q"))
    similar: dict[int, int] = field(default_factory=dict)  # shown row -> other pages like it
    more: dict[int, int] = field(default_factory=dict)  # last shown row of a folder -> all pages of the folder
    others: dict[int, list[int]] = field(default_factory=dict)  # shown row -> the same address in other documents


def folded(rows: Sequence[int], facts: PageFacts, sums: Summed, *, alike: bool = True, folders: bool = True) -> Folded:
    """`rows` best first; the best of an address, and of those that are alike, stands for all of them."""
    once = facts.each_once(rows)
    found = _without_alike(once, facts) if alike and not facts.alone else Folded(array("q", once))
    if folders and not sums.one_site:
        found.rows, found.more = _by_folder(found.rows, sums, facts, whole=len(found.rows) == len(once))
    if len(once) < len(rows):
        found.others = _others(rows, facts, found.rows)
    return found


def _others(rows: Sequence[int], facts: PageFacts, shown: Sequence[int]) -> dict[int, list[int]]:
    standing = {facts.same[row]: row for row in shown}
    found: dict[int, list[int]] = {}
    for row in rows:
        one = standing.get(facts.same[row], row)
        if one != row:
            found.setdefault(one, []).append(row)
    return found


def _without_alike(rows: Sequence[int], facts: PageFacts) -> Folded:
    counts = Counter(map(facts.alike.__getitem__, rows))
    found, seen = Folded(), set()
    for row in rows:
        first = facts.alike[row]
        if counts[first] > 1:
            if first in seen:
                continue
            seen.add(first)
            found.similar[row] = counts[first] - 1
        found.rows.append(row)
    return found


def _by_folder(
    shown: Sequence[int], sums: Summed, facts: PageFacts, *, whole: bool
) -> tuple["array[int]", dict[int, int]]:
    all_of = sums.folders
    found = all_of if whole else Counter(map(facts.folder.__getitem__, shown))
    room = sum(min(pages, OF_A_FOLDER) for pages in found.values())
    taken: Counter[int] = Counter()
    last: dict[int, int] = {}
    kept = array("q")
    for row in shown:
        if len(kept) == room:
            break
        folder = facts.folder[row]
        if taken[folder] < OF_A_FOLDER:
            taken[folder] += 1
            last[folder] = row
            kept.append(row)
    return kept, {last[folder]: all_of[folder] for folder, pages in found.items() if pages > OF_A_FOLDER}
