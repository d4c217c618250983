"""The ordered checks of one address in words, ending with what the run really decided. Pure."""

from dataclasses import dataclass

from clearinghouse.web.plurals import plural
from crawler.policy.judge import CrawlRules, TraceLine
from crawler.reasons import reason_of
from crawler.values import FAILED, QUEUED, REDIRECTED, SKIPPED, Snapshot
from crawlpoints.point_checks import comparable_root

from ..queries import Row

PASS, STOP, IDLE = "pass", "stop", "idle"
_EARLY = ("address", "scheme", "port")
_WORDS = {
    "address": "Can be read",
    "scheme": "is {}",
    "port": "port {} is allowed",
    "root": "Begins with the root string {}",
    "traps": "Is no endless address",
    "exclude": "",
    "nofollow": "Not linked with nofollow only",
    "depth": "Within the depth limit: {}",
}
_NAMES = {
    "address": "address", "scheme": "scheme", "port": "port", "root": "root string", "traps": "endless addresses",
    "exclude": "exclude URLs", "nofollow": "nofollow", "depth": "depth limit", "deactivation": "crawl point active",
    "run limit": "limit of the run", "network": "network address", "robots": "robots.txt", "maximum": "maximum pages",
    "fetch": "fetch",
}  # fmt: skip
_CHECK_OF = {"point_deactivated": "deactivation", "run_limit": "run limit", "address_refused": "network",
             "robots_disallowed": "robots", "page_limit": "maximum"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RootComparison:
    """Root string and address with the first character that differs."""

    same: str
    root_hit: str
    root_rest: str
    address_hit: str
    address_rest: str
    position: int


@dataclass(frozen=True, slots=True)
class CheckStep:
    result: str
    text: str
    compared: RootComparison | None = None

    @property
    def word(self) -> str:
        return {PASS: "Pass", STOP: "Stop"}.get(self.result, "Not checked")


def steps_of(row: Row, snapshot: Snapshot) -> list[CheckStep]:
    """The checks under the settings the run used; where the run decided later than they tell, its decision."""
    lines = CrawlRules(snapshot).trace(
        row.url, row.depth, nofollow=row.reason == "nofollow", point_id=row.crawl_point_id
    )
    stopped = next((line for line in lines if line.result == STOP), None)
    steps = _passed([line for line in lines if line.result == PASS], snapshot)
    idle = [line.check for line in lines if line.result == IDLE]
    if stopped is not None:
        steps.append(_stop(row, stopped))
    else:
        ending, idle = _ending(row, idle)
        steps += ending
    if idle:
        names = ", ".join(_NAMES[check] for check in idle)
        steps.append(CheckStep(IDLE, names[0].upper() + names[1:]))
    return steps


def _passed(lines: list[TraceLine], snapshot: Snapshot) -> list[CheckStep]:
    early = "; ".join(_line(line, snapshot) for line in lines if line.check in _EARLY)
    late = [
        CheckStep(PASS, _line(line, snapshot)) for line in lines if line.check not in _EARLY and line.check in _WORDS
    ]
    return ([CheckStep(PASS, early)] if early else []) + late


def _line(line: TraceLine, snapshot: Snapshot) -> str:
    if line.check == "exclude":
        return _not_excluded(len(snapshot.excludes))
    return _WORDS[line.check].format(line.detail).strip()


def _not_excluded(count: int) -> str:
    if not count:
        return "The document has no exclude URLs"
    return f"Matches none of {plural(count, 'exclude URL')}" if count > 1 else "Does not match the exclude URL"


def _stop(row: Row, line: TraceLine) -> CheckStep:
    text = _reason(row, line.check) + (f": {line.detail}" if line.detail else "")
    if line.check != "root" or not line.detail:
        return CheckStep(STOP, text)
    compared = compare(line.detail, row.url)
    if compared is None:
        return CheckStep(STOP, text)
    where = f"Does not begin with a root string: character {compared.position} is "
    return CheckStep(STOP, where, compared)


def _reason(row: Row, check: str = "error") -> str:
    """A page that was crawled all the same has none: then the check is named."""
    sentence = reason_of(row.reason, row.status).sentence or _NAMES.get(check, check)
    return sentence[0].upper() + sentence[1:]


def compare(root: str, address: str) -> RootComparison | None:
    """Where they part, the root as it is compared; None when the address does begin with it."""
    root = comparable_root(root)
    length = next((k for k, (a, b) in enumerate(zip(root, address)) if a != b), min(len(root), len(address)))  # noqa: B905
    if length == len(root):
        return None
    return RootComparison(
        same=root[:length],
        root_hit=root[length : length + 1],
        root_rest=root[length + 1 :],
        address_hit=address[length : length + 1],
        address_rest=address[length + 1 :],
        position=length + 1,
    )


def _ending(row: Row, idle: list[str]) -> tuple[list[CheckStep], list[str]]:
    """What came after the checks made when a link is found."""
    if row.outcome == QUEUED:
        return [CheckStep(IDLE, "Waits in the queue")], idle
    if row.outcome in (SKIPPED, FAILED):
        text = _reason(row) + (f": {row.told}" if row.told else "")
        check = _CHECK_OF.get(row.reason)
        return [CheckStep(STOP, text)], idle[idle.index(check) + 1 :] if check in idle else []
    answer = f" with status {row.status}" if row.status else ""
    if row.outcome == REDIRECTED:
        return [CheckStep(PASS, f"The site answered{answer}: redirected to {row.redirect_url}")], []
    return [CheckStep(PASS, f"Network, robots.txt and limits allowed it; the site answered{answer}")], []
