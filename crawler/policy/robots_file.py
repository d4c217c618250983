"""What a robots.txt says to us: its bytes as text, and of its groups the rules that are ours (RFC 9309). Pure.

Protego matches addresses with rules; which rules are ours is read here, because Protego lets a record it does not know
end a group, and takes only an exact name for ours. Where a file can be read in two ways, the one that asks more of us
counts: it is the site's wish, badly written.
"""

import codecs
import math
import re
from dataclasses import dataclass, field

READ_AT_MOST = 512 * 1024  # bytes; RFC 9309 asks for at least 500 KiB, the rest is not looked at
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # what a file begins with that says how it is encoded
_LINE = re.compile(
    r"(?:(?P<agent>us?e?r?g?[-_ ]?agents?)|(?P<disallow>d[aei]*s+[-_ ]?a?l+[ao]?w(?:ed)?)|(?P<allow>al+[ao]?w(?:ed)?)"
    r"|(?P<delay>crawl[-_ ]?delay)|(?P<sitemap>site[-_ ]?maps?))(?:\s*:|(?=\s)|$)\s*(?P<value>.*)",
    re.IGNORECASE,
)  # as people write them, also without a colon
_KINDS = ("agent", "disallow", "allow", "delay", "sitemap")
_NAME = re.compile(r"[^\w*]*(\*?[\w.!~-]*)")  # what names a crawler begins with, as in «(compatible;» and «Name/1.0»
_MARKUP = re.compile(r"<\s*(?:!doctype|html|head|body|pre|p|br)\b", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
_LONGEST_TAG_SEARCH = 4_096  # characters at the beginning in which markup shows itself


@dataclass(slots=True)
class RobotsGroup:
    """Rules, in their order, and the delay of one crawler, or of all that have no group of their own."""

    rules: list[tuple[str, str]] = field(default_factory=list)  # allow or disallow, and the pattern as written
    delay: float | None = None


def decode(body: bytes) -> str:
    """The text, by the mark it begins with or by where its zero bytes are; else it is UTF-8."""
    cut = len(body) > READ_AT_MOST
    body = body[:READ_AT_MOST]
    text = _decoded(body).removeprefix("\ufeff").replace("\0", "")
    return "\n".join(_lines(text)[:-1]) if cut else text  # half a line would forbid or allow something else


def _decoded(body: bytes) -> str:
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            rest = body.removeprefix(mark)
            return rest.decode(encoding if b"\0" in rest else "utf-8", "replace")  # zeros get lost where it is kept
    if b"\0" in body[:2]:
        return body.decode("utf-16-be" if body[:1] == b"\0" else "utf-16-le", "replace")
    return body.decode("utf-8", "replace")


class _Reader:
    """Goes through the records and keeps what may be ours: a file can have 10,000 crawlers, and 10,000 rules for all.

    Records that are neither agents nor rules end no group (2.2.4). A delay belongs to the crawlers named last, which
    may be fewer than those for whom the rules below it are."""

    def __init__(self, words: list[str]) -> None:
        self.groups: dict[str, RobotsGroup] = {}
        self._words = words  # of our name
        self.sitemaps: list[str] = []
        self._ruled: dict[str, RobotsGroup] = {}  # for whom the next rule is
        self._slowed: dict[str, RobotsGroup] = {}  # for whom the next delay is
        self._after_rule = self._after_delay = False

    def take(self, kind: str, value: str) -> None:
        if kind == "agent":
            self._name(value)
        elif kind == "sitemap":
            self.sitemaps += [value] if value else []
        elif kind == "delay":
            self._after_delay = True
            _slow_down(self._slowed, value)
        else:
            self._after_rule = self._after_delay = True
            for group in self._ruled.values():
                group.rules.append((kind, value))

    def _name(self, value: str) -> None:
        if self._after_rule:
            self._ruled = {}
        if self._after_delay:
            self._slowed = {}
        self._after_rule = self._after_delay = False
        for name in _names(value):
            if name != "*" and not any(word.startswith(name) for word in self._words):
                continue
            self._ruled[name] = self._slowed[name] = self.groups.setdefault(name, RobotsGroup())


def ours(text: str, agent: str) -> tuple[list[RobotsGroup], list[str]]:
    """The groups a crawler of this name obeys, all of them, and the sitemaps, which are for everybody.

    The group of its name; else that of the longest beginning of it, and because it may have been meant for another
    crawler that of everybody, too."""
    words = _names(agent)
    reader = _Reader(words)
    for line in _lines(text):
        found = _LINE.match(line.partition("#")[0].strip())
        if found:
            reader.take(next(kind for kind in _KINDS if found[kind]), found["value"])
    best = max(reader.groups, key=len, default="*")
    obeyed = [best] if best in words else list(dict.fromkeys([best, "*"]))
    return [reader.groups[name] for name in obeyed if name in reader.groups], reader.sitemaps


def _lines(text: str) -> list[str]:
    """A page of HTML in the place of a robots.txt has its lines between tags."""
    if _MARKUP.search(text, 0, _LONGEST_TAG_SEARCH):
        text = _TAG.sub("\n", text)
    return text.splitlines()


def _names(value: str) -> list[str]:
    """The crawlers a line names: several, divided by blanks or commas, with or without a version."""
    found = (_NAME.match(word) for word in re.split(r"[\s,;]+", value.lower()))
    names = [match[1] if match[1] == "*" else match[1].strip("*") for match in found if match]
    return [name for name in names if name]


def _slow_down(groups: dict[str, RobotsGroup], value: str) -> None:
    try:
        delay = float(value)
    except ValueError:
        return
    if math.isfinite(delay) and delay >= 0:
        for group in groups.values():
            group.delay = max(delay, group.delay or 0.0)
