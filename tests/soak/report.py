"""Owns: the tables of a soak, as text. Does not: judge more than flat or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.soak.__main__ import Soaked

DONE = ("crawls", "pages", "propagations", "searches", "looks", "edits", "restarts", "refused while web was away")


def told(soaked: Soaked) -> str:
    counts, parts = soaked.figures.counts, [_kinds(soaked), _lives(soaked), _disk(soaked)]
    done = ", ".join(f"{counts[name]:,} {name}" for name in DONE)
    blows = ", ".join(f"{name.removeprefix('struck: ')} {n}" for name, n in sorted(counts.items()) if "struck" in name)
    struck = sum(n for name, n in counts.items() if "struck" in name)
    lines = [*parts, f"In {soaked.seconds / 60:.1f} minutes: {done}.", f"Struck {struck} times: {blows}."]
    lines += [f"{len(soaked.figures.errors)} errors, {len(soaked.left)} leftovers."]
    return "\n\n".join(lines) + "".join(f"\n{one}" for one in [*soaked.figures.errors[:20], *soaked.left])


def _kinds(soaked: Soaked) -> str:
    rows = []
    for kind in sorted(soaked.scales.kinds):
        first, second, third, peak = soaked.scales.thirds(kind, soaked.seconds)
        rows.append(f"| {kind} | {first:.0f} | {second:.0f} | {third:.0f} | {peak:.0f} |")
    return _table("Memory of all processes of a kind, MB (median)", "kind | first third | second | last | peak", rows)


def _lives(soaked: Soaked) -> str:
    rows = []
    for life in soaked.scales.old():
        (first, last), (few, many) = life.thirds(), life.files()
        flat = "GROWS" if life.grows() else "flat"
        rows.append(
            f"| {life.kind} | {life.age / 60:.0f} min | {first:.1f} | {last:.1f} | {last - first:+.1f} | {flat} "
            f"| {few}, {many} |"
        )
    heads = "longest life of its kind | lived | first third of it, MB | last third | | | open files"
    return _table("Growth", heads, rows)


def _disk(soaked: Soaked) -> str:
    crawls = max(1, soaked.figures.counts["crawls"])
    rows = [
        f"| {name} | {first:.1f} | {second:.1f} | {last:.1f} | {1024 * last / crawls:.0f} |"
        for name, first, second, last in soaked.scales.disk_thirds()
    ]
    return _table("Disk, MB", "files | after a third | two thirds | all | KB a crawl", rows)


def _table(title: str, heads: str, rows: list[str]) -> str:
    return "\n".join([title, "", f"| {heads} |", "|" + " --- |" * (heads.count("|") + 1), *rows])
