"""Exclude patterns: one text, four kinds, each with a bounded cost whatever its author wrote."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import re2

from .address import MAX_LENGTH, Refusal
from .parsing import canonical

_REGEX = "regex:"
_UNREADABLE = 500  # steps of an expression that is refused: finding that out takes up to a twentieth of a second
WEIGHT_AT_MOST = 10_000  # of all expressions of a document: one address costs them a tenth of a second at worst


class Exclude(Protocol):
    """A compiled pattern. `kind` is one of: exact, begins with, wildcard, regex."""

    @property
    def pattern(self) -> str: ...

    @property
    def kind(self) -> str: ...

    def matches(self, href: str) -> bool:
        """Does the canonical address match?"""
        ...


@dataclass(frozen=True, slots=True)
class _Exact:
    pattern: str
    text: str
    kind: str = "exact"

    def matches(self, href: str) -> bool:
        return href == self.text


@dataclass(frozen=True, slots=True)
class _BeginsWith:
    pattern: str
    text: str
    kind: str = "begins with"

    def matches(self, href: str) -> bool:
        return href.startswith(self.text)


@dataclass(frozen=True, slots=True)
class _Wildcard:
    pattern: str
    pieces: tuple[str, ...]  # what stands between the stars
    kind: str = "wildcard"

    def matches(self, href: str) -> bool:
        first, *middle, last = self.pieces
        if not href.startswith(first):
            return False
        position, end = len(first), len(href) - len(last)
        for piece in middle:
            position = href.find(piece, position, end)
            if position < 0:
                return False
            position += len(piece)
        return position <= end and href.endswith(last)


@dataclass(frozen=True, slots=True)
class _Regex:
    pattern: str
    compiled: Any
    kind: str = "regex"

    def matches(self, href: str) -> bool:
        return self.compiled.search(href) is not None


def compile_exclude(pattern: str) -> Exclude | Refusal:
    """Read an exclude pattern: exact, trailing * = begins with, other * = wildcard, regex: = RE2 found anywhere."""
    pattern = pattern.strip()
    if not pattern:
        return Refusal("bad_address", "the pattern is empty")
    if len(pattern) > MAX_LENGTH:
        return Refusal("too_long", f"{len(pattern):,} characters")
    if pattern.startswith(_REGEX):
        return _regex(pattern)
    text = _comparable(pattern)
    if "*" not in pattern:
        return _Exact(pattern, text) if text is not None else Refusal("bad_address", pattern)
    literal = pattern if text is None else text
    if literal.find("*") == len(literal) - 1:
        return _BeginsWith(pattern, literal[:-1])
    return _Wildcard(pattern, tuple(literal.split("*")))


def can_match(exclude: Exclude) -> bool:
    """Whether any web address could match: what stands before the first star must be able to begin one."""
    if isinstance(exclude, _BeginsWith):
        start = exclude.text
    elif isinstance(exclude, _Wildcard):
        start = exclude.pieces[0]
    else:
        return True
    return any(start.startswith(scheme) or scheme.startswith(start) for scheme in ("http://", "https://"))


def weight(patterns: Iterable[str], most: int | None = None) -> int:
    """How many steps the regular expressions among these have; a usual one has 20, and an address may meet each step
    at each of its characters. Beyond `most` nobody counts further, because counting takes time as well."""
    total = 0
    for pattern in patterns:
        if most is not None and total > most:
            break
        if pattern.strip().startswith(_REGEX):
            read = compile_exclude(pattern)
            total += read.compiled.programsize if isinstance(read, _Regex) else _UNREADABLE
    return total


def _comparable(pattern: str) -> str | None:
    """The pattern in canonical spelling, when it reads as an address; a star is an ordinary character there."""
    try:
        if pattern.endswith("*") and pattern.count("*") == 1:
            return canonical(pattern[:-1]) + "*"
        return canonical(pattern)
    except ValueError:
        return None


def _regex(pattern: str) -> Exclude | Refusal:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 1 << 20
    options.never_capture = True
    if pattern == _REGEX:
        return Refusal("bad_address", "not a regular expression: nothing follows regex:")
    try:
        return _Regex(pattern, re2.compile(pattern.removeprefix(_REGEX), options))
    except (re2.error, UnicodeEncodeError) as problem:
        return Refusal("bad_address", f"not a regular expression: {_words(problem)}")


def _words(problem: Exception) -> str:
    text = problem.args[0] if problem.args else problem
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
