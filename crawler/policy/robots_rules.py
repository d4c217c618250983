"""robots.txt by RFC 9309: may an address be fetched. Pure: the caller fetches, and decides how long an answer is good.

What is ours of the file is read in robots_text.py; Protego compares rules with addresses.
"""

from typing import Any

from protego import Protego

from crawler.values import USER_AGENT

from .robots_file import RobotsGroup, decode, ours

LONGEST_DELAY = 30.0  # seconds
TOO_MANY = 429
_ANYBODY = "*"


class Robots:
    """The rules of one robots.txt for our crawler."""

    def __init__(self, text: str, agent: str = USER_AGENT) -> None:
        groups, self.sitemaps = ours(text, agent)
        self._groups = [_compiled(group) for group in groups]
        self.asked_delay: float | None = max((g.delay for g in groups if g.delay is not None), default=None)

    @classmethod
    def from_status(cls, status: int, body: bytes) -> "Robots | None":
        """By the answer's status: 2xx gives its rules, 3xx and 4xx allow everything, anything else is no answer. Nor is
        429: who asks for time is not to be crawled without rules."""
        if not is_answer(status):
            return None
        return parse_robots(body) if status < 300 else cls("")

    @property
    def crawl_delay(self) -> float | None:
        """Seconds between requests, at most 30; None when the file asks for none."""
        return None if self.asked_delay is None else min(self.asked_delay, LONGEST_DELAY)

    def allowed(self, url: str) -> tuple[bool, str]:
        """May we fetch this canonical address, and if not, which line forbids it."""
        for group in self._groups:
            if not group.can_fetch(url, _ANYBODY):
                return False, _forbidding_line(group, url)
        return True, ""


def is_answer(status: int) -> bool:
    """Whether a site has said its rules with this, or that it has none."""
    return 200 <= status < 500 and status != TOO_MANY


def parse_robots(body: bytes) -> Robots:
    """Read a robots.txt, whatever its bytes are."""
    return Robots(decode(body))


def _compiled(group: RobotsGroup) -> Protego:
    lines = dict.fromkeys(f"{kind}: {pattern}" for kind, pattern in group.rules)
    return Protego.parse("\n".join([f"User-agent: {_ANYBODY}", *lines]))


def _forbidding_line(group: Protego, url: str) -> str:
    """Protego keeps the matching rule to itself; only this explanation looks inside."""
    rules: Any = getattr(group, "_get_matching_rule_set", lambda agent: None)(_ANYBODY)
    target = "/" + url.split("/", 3)[-1]
    for rule in getattr(rules, "_rules", ()):
        if rule.field == "disallow" and rule.value.match(target):
            return f"Disallow: {rule.value._pattern}"
    return "Disallow"
