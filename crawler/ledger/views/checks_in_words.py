"""The ordered checks of one address in words, ending with what the run really decided. Pure."""

from dataclasses import dataclass

from clearinghouse.web.plurals import plural
from crawler.policy.address_checks import CHECK_NAMED, CHECK_OF, CheckStage
from crawler.policy.judge import CrawlRules, TraceLine
from crawler.reasons import reason_of
from crawler.values import FAILED, QUEUED, REDIRECTED, SKIPPED, Snapshot

from ..explain import RootComparison, compare
from ..queries import Row

PASS, STOP, IDLE = "pass", "stop", "idle"
# Where this page says it otherwise than the tester.
_PASSED = {
    "scheme": "is {}", "port": "port {} is allowed", "root": "Begins with the root string {}",
    "traps": "Is no endless address",
}  # fmt: skip
_LABELS = {"address": "address", "scheme": "scheme", "run limit": "limit of the run"}


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
        names = ", ".join(map(_label, idle))
        steps.append(CheckStep(IDLE, names[0].upper() + names[1:]))
    return steps


def _passed(lines: list[TraceLine], snapshot: Snapshot) -> list[CheckStep]:
    early, late = [], []
    for line in lines:
        (early if CHECK_NAMED[line.check].stage is CheckStage.ADDRESS else late).append(_line(line, snapshot))
    return [CheckStep(PASS, text) for text in ("; ".join(early), *late) if text]


def _line(line: TraceLine, snapshot: Snapshot) -> str:
    if line.check == "exclude":
        return _not_excluded(len(snapshot.excludes))
    detail = ": {}" if line.detail and line.check != "address" else ""
    return _PASSED.get(line.check, CHECK_NAMED[line.check].passed + detail).format(line.detail)


def _label(check: str) -> str:
    label = CHECK_NAMED[check].label
    return _LABELS.get(check, label[0].lower() + label[1:])


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


def _reason(row: Row, check: str = "") -> str:
    """A page that was crawled all the same has none: then the check is named."""
    sentence = reason_of(row.reason, row.status).sentence or (_label(check) if check else "error")
    return sentence[0].upper() + sentence[1:]


def _ending(row: Row, idle: list[str]) -> tuple[list[CheckStep], list[str]]:
    """What came after the checks made when a link is found."""
    if row.outcome == QUEUED:
        return [CheckStep(IDLE, "Waits in the queue")], idle
    if row.outcome in (SKIPPED, FAILED):
        text = _reason(row) + (f": {row.told}" if row.told else "")
        check = CHECK_OF.get(row.reason)
        return [CheckStep(STOP, text)], idle[idle.index(check.name) + 1 :] if check and check.name in idle else []
    answer = f" with status {row.status}" if row.status else ""
    if row.outcome == REDIRECTED:
        return [CheckStep(PASS, f"The site answered{answer}: redirected to {row.redirect_url}")], []
    return [CheckStep(PASS, f"Network, robots.txt and limits allowed it; the site answered{answer}")], []
