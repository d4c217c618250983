"""Widths and points of the charts of a run, as SVG attributes. Pure; the templates draw them."""

from collections.abc import Sequence
from dataclasses import dataclass

from clearinghouse.web.templatetags.formats import number, plural

from ..run_counts import Tallies, Totals

_LEAST = 0.5  # no part of a bar is narrower than this, in per cent
_GAP = 0.3
_BETWEEN = 0.8  # two parts of the bar of a depth


@dataclass(frozen=True, slots=True)
class BarPart:
    css: str
    x: str
    width: str


@dataclass(frozen=True, slots=True)
class DepthBar:
    depth: int
    done: int
    left: int  # judged only because the run ended early
    wanted: int
    parts: tuple[BarPart, ...]


@dataclass(frozen=True, slots=True)
class StatusLine:
    digit: int
    label: str
    css: str
    count: int


@dataclass(frozen=True, slots=True)
class LiveChart:
    title: str
    line: str
    last: int


STATUS_WORDS = {
    2: ("answered (200 to 299)", "k-done"),
    3: ("redirected or unchanged (300 to 399)", "k-off"),
    4: ("not found or refused (400 to 499)", "k-err"),
    5: ("fault of the site (500 to 599)", "k-err"),
}


def stack(parts: Sequence[tuple[str, int]]) -> list[BarPart]:
    """One bar of 100 %, its parts with gaps between."""
    shown = [(css, count) for css, count in parts if count > 0]
    whole = sum(count for _, count in shown)
    room = 100 - _GAP * max(len(shown) - 1, 0)
    widths = [max(100 * count / whole, _LEAST) for _, count in shown]
    scale = room / sum(widths) if widths else 0
    result, x = [], 0.0
    for (css, _), width in zip(shown, widths, strict=True):
        result.append(BarPart(css, f"{x:.2f}%", f"{width * scale:.2f}%"))
        x += width * scale + _GAP
    return result


def depth_bars(tallies: Tallies) -> list[DepthBar]:
    lines = [(depth, *counts, tallies.left[depth]) for depth, counts in sorted(tallies.depths.items())]
    longest = max((sum(line[1:]) for line in lines), default=0)
    return [
        DepthBar(depth, done, left, done + waiting + left, _beside(longest, done, waiting, left))
        for depth, done, waiting, left in lines
        if done + waiting + left > 0
    ]


def _beside(longest: int, *counts: int) -> tuple[BarPart, ...]:
    """One bar of what is done, waits, and was left."""
    parts: list[BarPart] = []
    start = 0.0
    for css, count in zip(("k-done", "k-wait", "k-off"), counts, strict=True):
        share = 100 * count / longest
        if count:
            at = start + _BETWEEN if parts else 0.0
            width = min(share, 100 - at)
            parts.append(BarPart(css, f"{at:.1f}%" if parts else "0", f"{max(width, _LEAST):.1f}%"))
        start += share
    return tuple(parts)


def status_lines(tallies: Tallies) -> list[StatusLine]:
    return [
        StatusLine(digit, label, css, tallies.statuses[digit])
        for digit, (label, css) in STATUS_WORDS.items()
        if tallies.statuses[digit]
    ]


def status_title(lines: Sequence[StatusLine]) -> str:
    return "By status: " + ", ".join(f"{number(line.count)} {line.label}" for line in lines)


def ledger_parts(sums: Totals) -> list[BarPart]:
    return stack(
        [
            ("k-ok", sums.crawled),
            ("k-done", sums.unchanged),
            ("k-off", sums.redirected),
            ("k-wait", sums.skipped),
            ("k-err", sums.failed),
        ]
    )


def ledger_title(sums: Totals) -> str:
    return (
        f"Decisions: {number(sums.crawled)} new or changed, {number(sums.unchanged)} unchanged, "
        f"{number(sums.redirected)} redirected, {number(sums.skipped)} skipped, {number(sums.failed)} failed, "
        f"{number(sums.queued)} queued of {plural(sums.found, 'address,addresses')}"
    )


def live_chart(minutes: Sequence[int], per_minute: int) -> LiveChart | None:
    """Pages per minute as a line in a box of 240 by 44."""
    if len(minutes) < 2:
        return None
    top = max(max(minutes), 1)
    step = 240 / (len(minutes) - 1)
    line = " ".join(f"{k * step:.1f},{40 - 36 * value / top:.1f}" for k, value in enumerate(minutes))
    title = (
        f"Pages per minute in the last {plural(len(minutes), 'minute')}: lowest {number(min(minutes))}, "
        f"highest {number(max(minutes))}, now {number(per_minute)}"
    )
    return LiveChart(title, line, per_minute)
