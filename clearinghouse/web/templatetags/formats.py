"""Owns: the small pieces every screen is made of: icons, addresses, dates, numbers, state words, tiny charts.

Does not: read a database or decide anything. Called by: all templates (a builtin library, no load needed),
and by tables that render cells.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from math import floor
from statistics import median
from typing import Any

from django import template
from django.core.paginator import Page
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from ..plurals import number, plural

register = template.Library()

MINUTE, HOUR, DAY = 60, 3600, 86400
RUNS_SHOWN = 12
SHORT = 28  # characters that are kept on one line

# One place for the colour and icon of each state word; everything else is grey.
STATES = {
    "waiting": ("", "wait", "Waiting"),
    "running": ("info", "run", "Running"),
    "paused": ("warn", "pause", "Paused"),
    "interrupted": ("warn", "warn", "Interrupted"),
    "stopping": ("warn", "off", "Stopping"),
    "finished": ("ok", "ok", "Finished"),
    "finished_at_limit": ("warn", "limit", "Finished at limit"),
    "stopped": ("", "off", "Stopped"),
    "cancelled": ("", "x", "Cancelled"),
    "failed": ("bad", "stop", "Failed"),
    "left_out": ("", "skip", "Left out"),
    "active": ("ok", "ok", "Active"),
    "inactive": ("", "off", "Inactive"),
    "failing": ("bad", "stop", "Failing"),
    "never": ("", "idle", "Never crawled"),
    "queued": ("", "wait", "Queued"),
    "crawled": ("ok", "ok", "Crawled"),
    "unchanged": ("ok", "tick", "Unchanged"),
    "redirected": ("info", "right", "Redirected"),
    "skipped": ("", "skip", "Skipped"),
    "done": ("ok", "ok", "Done"),
    "working": ("info", "run", "Working"),
}
NOTICES = {"success": "ok", "warning": "warn", "error": "bad", "debug": "info"}
NOTICE_ICONS = {"ok": "tick", "warn": "warn", "bad": "stop", "info": "info"}


# ---- icons, pills, notices ----


@register.simple_tag
def icon(name: str) -> SafeString:
    """An icon of the sprite; always beside a word, so it is hidden from screen readers."""
    return format_html('<svg class="i" aria-hidden="true"><use href="{}#i-{}"/></svg>', static("icons.svg"), name)


@register.simple_tag
def pill(kind: str, word: str, symbol: str = "") -> SafeString:
    """A state word; kind is ok, warn, bad, info or empty (grey)."""
    classes = f"pill {kind}".strip()
    return format_html('<span class="{}">{}{}</span>', classes, icon(symbol) if symbol else "", word)


@register.simple_tag
def state(code: str, word: str = "") -> SafeString:
    """The pill of a state code (run, excursion, crawl point, outcome), with its own word unless another is given."""
    kind, symbol, own = STATES.get(code, ("", "", str(code).replace("_", " ").capitalize()))
    return pill(kind, word or own, symbol)


@register.filter
def notice_kind(kind: str) -> str:
    return NOTICES.get(kind, kind or "info")


@register.filter
def notice_icon(kind: str) -> str:
    return NOTICE_ICONS[notice_kind(kind)]


# ---- addresses ----


def _origin_length(url: str) -> int:
    scheme = url.find("://")
    if scheme < 0:
        return 0
    slash = url.find("/", scheme + 3)
    return len(url) if slash < 0 else slash


_BREAK, _SLASH = mark_safe("/<wbr>"), mark_safe("/")


def _breakable(text: str) -> SafeString:
    """The same characters, with a place to break the line after each slash."""
    *parts, last = text.split("/")
    whole = escape("")
    for place, part in enumerate(parts, start=1):
        whole += escape(part) + (_BREAK if last or place < len(parts) else _SLASH)
    return whole + escape(last)


@register.filter
def web_link(url: str) -> str:
    """The address if a browser may be sent there; nothing for javascript: and the like (threat T12)."""
    return url if url.lower().startswith(("http://", "https://")) else ""


@register.simple_tag
def url_parts(url: str, shared: str | None = None) -> SafeString:
    """An address, never cut: what it shares with its neighbours is dim (the site, unless told), the rest ink."""
    if shared is None:
        length = _origin_length(url)
    else:
        length = len(shared) if url.startswith(shared) else 0
    if not 0 < length < len(url):
        return _breakable(url)
    return format_html('<span class="dim">{}</span><wbr>{}', url[:length], _breakable(url[length:]))


@register.simple_tag
def short_root(root: str, url: str) -> SafeString:
    """A root string beside its URL: "same site /measures/", with the full text for screen readers and on focus."""
    length = _origin_length(url)
    if not length or not root.startswith(url[:length]) or root[length : length + 1] not in {"", "/"}:
        return format_html('<span class="url">{}</span>', url_parts(root))
    return format_html(
        '<span class="short" tabindex="0" title="{}"><span class="vh">{}</span><span class="{}" aria-hidden="true">'
        '<span class="muted">same site</span> {}</span><span class="whole url" aria-hidden="true">{}</span></span>',
        root,
        root,
        "nowrap" if len(root) - length <= SHORT else "url",
        _SLASH + _breakable(root[length + 1 :]),  # its leading slash stands alone at no end of a line
        _breakable(root),
    )


# ---- dates ----


def date_words(moment: datetime, *, year: bool = True) -> str:
    """12 Nov 2026 in the zone of the reader."""
    local = timezone.localtime(moment)
    return f"{local.day} {local:%b %Y}" if year else f"{local.day} {local:%b}"


def age(moment: datetime, now: datetime | None = None) -> str:
    """6 days ago; for a moment to come: in 6 days."""
    seconds = ((now or timezone.now()) - moment).total_seconds()
    size = abs(seconds)
    if size < MINUTE:
        return "just now" if seconds >= 0 else "in a moment"
    for limit, unit, word in ((HOUR, MINUTE, "minute"), (DAY, HOUR, "hour"), (float("inf"), DAY, "day")):
        if size < limit:
            amount = plural(int(size // unit), word)
            return f"{amount} ago" if seconds >= 0 else f"in {amount}"
    raise AssertionError("every size is below infinity")


def _time(moment: datetime, text: str | SafeString) -> SafeString:
    return format_html('<time datetime="{}">{}</time>', timezone.localtime(moment).isoformat("T", "minutes"), text)


@register.simple_tag
def when(moment: datetime | None) -> SafeString:
    """12 Nov 2026, 17:42: in headings and facts."""
    if moment is None:
        return NOTHING
    return _time(moment, f"{date_words(moment)}, {timezone.localtime(moment):%H:%M}")


@register.simple_tag
def day(moment: datetime | None) -> SafeString:
    """12 Nov 2026."""
    return NOTHING if moment is None else _time(moment, date_words(moment))


@register.simple_tag
def clock(moment: datetime | None) -> SafeString:
    """14:02 if it is today, else with the date."""
    if moment is None:
        return NOTHING
    local = timezone.localtime(moment)
    return _time(moment, f"{local:%H:%M}") if local.date() == timezone.localdate() else when(moment)


@register.simple_tag
def on_day(moment: datetime | None) -> SafeString:
    """today at 17:42, yesterday at 17:42, on 12 Nov 2026 at 17:42: in sentences."""
    if moment is None:
        return NOTHING
    local = timezone.localtime(moment)
    days = (timezone.localdate() - local.date()).days
    word = {0: "today", 1: "yesterday"}.get(days, f"on {date_words(moment)}")
    return _time(moment, f"{word} at {local:%H:%M}")


@register.simple_tag
def coming(moment: datetime | None) -> SafeString:
    """Sun 02:00 within a week, else with the date."""
    if moment is None:
        return NOTHING
    local = timezone.localtime(moment)
    near = 0 <= (local.date() - timezone.localdate()).days < 7
    return _time(moment, f"{local:%a %H:%M}") if near else when(moment)


@register.simple_tag
def ago(moment: datetime | None) -> SafeString:
    """6 days ago."""
    return NOTHING if moment is None else _time(moment, age(moment))


@register.simple_tag
def when_row(moment: datetime | None) -> SafeString:
    """12 Nov, 6 days ago: in tables; the year is left out while it is the current one."""
    if moment is None:
        return NEVER
    this_year = timezone.localtime(moment).year == timezone.localtime().year
    date = date_words(moment, year=not this_year)
    return _time(moment, format_html('<span class="muted">{},</span> {}', date, age(moment)))


@register.filter
def duration(seconds: float | None) -> str:
    """27 min, 1 h 5 min, 0.4 s."""
    if seconds is None:
        return "–"
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 2 * MINUTE:
        return f"{seconds:.0f} s"
    minutes = round(seconds / MINUTE)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


# ---- numbers ----

NOTHING = mark_safe('<span class="zero">–</span>')
NEVER = mark_safe('<span class="zero">never</span>')


register.filter(number)
register.filter(plural)


@register.filter
def change(value: int | None) -> str:
    """+14, −140, ±0."""
    if value is None:
        return "–"
    return "±0" if value == 0 else f"{value:+,}".replace("-", "−")


@register.simple_tag
def count_link(count: int | None, href: str = "", words: str = "", bad: bool = False) -> SafeString:
    """A number that opens the list of what it counts; 0 is muted, an error count is red."""
    if count is None:
        return NOTHING
    text = plural(count, words) if words else number(count)
    if not count:
        return format_html('<span class="zero">{}</span>', text)
    if not href:
        return format_html('<span class="{}">{}</span>', "err-text" if bad else "n", text)
    return format_html('<a class="{}" href="{}">{}</a>', "n err-text" if bad else "n", href, text)


@register.filter
def size(value: int | None) -> str:
    """23 KB, 7.0 MB."""
    if value is None:
        return "–"
    amount = float(value)
    for unit in ("bytes", "KB", "MB"):
        if amount < 1000:
            return f"{amount:,.0f} {unit}" if unit != "MB" else f"{amount:.1f} MB"
        amount /= 1000
    return f"{amount:,.1f} GB"


# ---- tiny charts: widths are SVG attributes and <progress>, never style ----


def percent(value: int, whole: int) -> int:
    """100 only when all is done, 0 only when nothing is."""
    if whole <= 0 or value <= 0:
        return 0
    return 100 if value >= whole else max(1, floor(100 * value / whole))


@register.simple_tag
def meter(value: int, whole: int, label: str) -> SafeString:
    done = percent(value, whole)
    return format_html(
        '<div class="meter"><progress class="{}" value="{}" max="{}" aria-label="{}"></progress><b>{}%</b></div>',
        "full" if done == 100 else "",
        value,
        max(whole, 1),
        label,
        done,
    )


@register.simple_tag
def spark(values: Sequence[int] | None, what: str = "Pages") -> SafeString:
    """A sparkline of the last 12 runs with the last change as text; fewer runs start further right."""
    shown = list(values or [])[-RUNS_SHOWN:]
    if not shown:
        return NOTHING
    points = _spark_points(shown)
    line = " ".join(f"{x:g},{y:g}" for x, y in points)
    (first, _), (last, height) = points[0], points[-1]
    step = change(shown[-1] - shown[-2]) if len(shown) > 1 else ""
    title = (
        f"{what} in the last {plural(len(shown), 'run') if len(shown) > 1 else 'run'}: "
        f"lowest {number(min(shown))}, highest {number(max(shown))}, last {number(shown[-1])}"
    )
    return format_html(
        '<span class="trend"><svg class="spark{}" viewBox="0 0 88 20" role="img"><title>{}</title>'
        '<polygon class="a" points="{},20 {} {},20"/><polyline points="{}"/><circle cx="{}" cy="{}" r="2.5"/></svg>'
        '<span class="d">{}</span></span>',
        " down" if shown[-1] < 0.8 * median(shown) else "",
        title,
        f"{first:g}",
        line,
        f"{last:g}",
        line,
        f"{last:g}",
        f"{height:g}",
        step,
    )


def _spark_points(values: Sequence[int]) -> list[tuple[float, float]]:
    span = (max(values) - min(values)) or 1
    low, high = min(values) - 0.1 * span, max(values) + 0.1 * span
    first = RUNS_SHOWN - len(values)
    return [
        (round(3 + 82 * (first + k) / (RUNS_SHOWN - 1), 1), round(17 - 14 * (value - low) / (high - low), 1))
        for k, value in enumerate(values)
    ]


# ---- tables ----


@register.simple_tag(takes_context=True)
def sort_link(context: template.Context, table: Any, column: Any) -> str:
    """The address that sorts a django-tables2 table by this column, back on page 1."""
    query = context["request"].GET.copy()
    query[table.prefixed_order_by_field] = str(column.order_by_alias.next)
    query.pop(table.prefixed_page_field, None)
    return f"?{query.urlencode()}"


@register.filter
def page_numbers(page: Page[Any]) -> Iterable[int]:
    """1 2 3 … 591: page numbers, 0 where some are left out."""
    last = page.paginator.num_pages
    near = {1, last, page.number - 1, page.number, page.number + 1}
    shown = sorted(n for n in near if 1 <= n <= last)
    out: list[int] = []
    for one in shown:
        if out and one - out[-1] == 2:
            out.append(one - 1)
        elif out and one - out[-1] > 2:
            out.append(0)
        out.append(one)
    return out
