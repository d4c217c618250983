"""robots.txt by RFC 9309, on Protego. Pure: the caller fetches, and decides how long an answer is good."""

from typing import Any

from protego import Protego

from crawler.values import USER_AGENT

READ_AT_MOST = 500_000  # bytes; RFC 9309 asks for at least 500 KiB, the rest is not looked at
LONGEST_DELAY = 30.0  # seconds


class Robots:
    """The rules of one robots.txt for our crawler."""

    def __init__(self, text: str, agent: str = USER_AGENT) -> None:
        self._rules = Protego.parse(text)
        self._agent = agent
        self.sitemaps: list[str] = list(self._rules.sitemaps)
        self.asked_delay: float | None = self._rules.crawl_delay(agent)

    @classmethod
    def from_status(cls, status: int, body: bytes) -> "Robots | None":
        """By the answer's status: 2xx gives its rules, 3xx and 4xx allow everything, anything else is no answer."""
        if 200 <= status < 300:
            return parse_robots(body)
        return cls("") if 300 <= status < 500 else None

    @property
    def crawl_delay(self) -> float | None:
        """Seconds between requests, at most 30; None when the file asks for none."""
        return None if self.asked_delay is None else min(self.asked_delay, LONGEST_DELAY)

    def allowed(self, url: str) -> tuple[bool, str]:
        """May we fetch this canonical address, and if not, which line forbids it."""
        if self._rules.can_fetch(url, self._agent):
            return True, ""
        return False, self._forbidding_line(url)

    def _forbidding_line(self, url: str) -> str:
        """Protego keeps the matching rule to itself; only this explanation looks inside."""
        rules: Any = getattr(self._rules, "_get_matching_rule_set", lambda agent: None)(self._agent)
        target = "/" + url.split("/", 3)[-1]
        for rule in getattr(rules, "_rules", ()):
            if rule.field == "disallow" and rule.value.match(target):
                return f"Disallow: {rule.value._pattern}"
        return "Disallow"


def parse_robots(body: bytes) -> Robots:
    """Read a robots.txt, whatever its bytes are."""
    text = body[:READ_AT_MOST].decode("utf-8", "replace").removeprefix("\ufeff")
    return Robots(text.replace("\0", ""))
