"""The diagnosis rules, one function each, in the order of their weight. Pure: facts in, findings out."""

from collections.abc import Callable, Iterable, Iterator
from math import ceil

from clearinghouse.addresses.roots import begins_with, folder_of
from clearinghouse.web.templatetags.formats import number, plural

from ..reasons import answered, reason_of
from ..values import FAILED, PointSettings
from .types import (
    CHANGES,
    ERRORS,
    INFO,
    LAUNCH,
    PAGE,
    PAGES,
    POINT,
    POINTS,
    STOP,
    URLS,
    WARN,
    ExcursionFacts,
    Fix,
    FoundProblem,
)

FEW_BYTES = 500
DROP = 0.8  # of the pages of the crawl before
MANY_DEEP = 10
MANY_DATED = 100
MANY_SAME = 5
MANY_TIMES = 5  # that a site asked to slow down
FAILING_RUNS = 3
_EVERY = 100  # limits are offered in round hundreds
_PASSING = {"dns_failed", "connect_failed", "timeout", "too_slow", "cut_short", "http_5xx", "robots_unavailable"}


def look(facts: ExcursionFacts) -> list[FoundProblem]:
    """Everything there is to say, heaviest first."""
    found = [one for rule in RULES for one in rule(facts)]
    return sorted(found, key=lambda one: -one.weight)


def advice(facts: ExcursionFacts, found: Iterable[FoundProblem]) -> str:
    """What to do with the results: propagate, review them first, or crawl again."""
    rules = {one.rule: one for one in found}
    passing = any(start.reason in _PASSING for start in facts.starts)
    if facts.state == "failed" or ("start_failed" in rules and passing):
        return "again"
    if "auth_failed" in rules or (facts.fetched and facts.failed * 2 > facts.fetched):
        return "again"
    return "review" if any(one.weight >= WARN for one in rules.values()) else "propagate"


def start_failed(facts: ExcursionFacts) -> Iterator[FoundProblem]:
    for start in facts.starts:
        if start.outcome != FAILED or start.reason == "auth_failed":
            continue
        point = start.point
        fixes = [Fix("Update crawl point", POINT, point_id=point.id)]
        if start.failing_runs >= FAILING_RUNS:
            fixes.append(Fix("Deactivate", point_id=point.id, change={"active": 0}))
        runs = f" in {plural(start.failing_runs, 'run')}" if start.failing_runs > 1 else ""
        reason = reason_of(start.reason, start.status, start=True)
        said = start.status >= 400
        failed = f"answered {answered(start.status)}" if said else f"could not be crawled: {reason.because}"
        sentence = f"The start page {point.url} {failed}{runs}. {reason.advice}".rstrip()
        yield FoundProblem("start_failed", STOP, sentence, str(point.id), tuple(fixes))


def start_redirects(facts: ExcursionFacts) -> Iterator[FoundProblem]:
    for start in facts.starts:
        if start.reason != "redirect_outside_root":
            continue
        point, target = start.point, start.redirect_url
        change = {"url": target, "root": folder_of(target)} if target else {}
        fixes = (Fix("Use the new address", point_id=point.id, change=change),) if change else ()
        sentence = f"{point.url} redirects to {target or 'an address'}, outside the root string."
        yield FoundProblem("start_redirects", STOP, sentence, str(point.id), fixes)


def auth_failed(facts: ExcursionFacts) -> Iterator[FoundProblem]:
    count = facts.reasons["auth_failed"]
    if count:
        login = next((start.point for start in facts.starts if start.point.auth_type), None)
        fix = _update("Change password", login)
        sentence = f"The site refused the saved user ID ({plural(count, 'address,addresses')})."
        yield FoundProblem("auth_failed", STOP, sentence, "", (fix, _errors("auth_failed")))


def only_start(facts: ExcursionFacts) -> Iterator[FoundProblem]:
    crawled = [start for start in facts.starts if start.outcome in ("crawled", "unchanged")]
    if facts.pages != 1 or len(facts.starts) != 1 or not crawled:
        return
    start = crawled[0]
    if start.point.depth == 0 or (start.links_inside or 0) > 1:
        return
    earlier = f"; the previous run had {number(facts.before)}" if facts.before else ""
    links = plural(start.links_inside or 0, "link")
    sentence = f"Only 1 page was stored{earlier}. The start page has {links} inside the root string."
    fixes = (Fix("Show its links", URLS, {"depth": 1}), _update("Change root string", start.point))
    yield FoundProblem("only_start", STOP, sentence, str(start.point.id), fixes)


def tiny(facts: ExcursionFacts) -> Iterator[FoundProblem]:
    if facts.pages and facts.bytes < FEW_BYTES:
        sentence = f"{plural(facts.bytes, 'byte was,bytes were')} stored."
        page = Fix("Open the page", PAGE, {"row": facts.only_page}) if facts.only_page else Fix("Show the pages", PAGES)
        yield FoundProblem("tiny", WARN, sentence, "", (page,))


def page_limit(facts: ExcursionFacts) -> Iterator[FoundProblem]:
    for start in facts.starts:
        point, waiting = start.point, facts.cut.get(start.point.id, 0)
        if not waiting or not point.max_pages:
            continue
        if point.id in facts.of_the_run:  # its own maximum is not to blame, and "raising" it might lower it
            yield _run_limit(point, waiting)
            continue
        limit = ceil((point.max_pages + waiting) / _EVERY) * _EVERY
        sentence = (
            f"Stopped at the limit of {plural(point.max_pages, 'page')} of {point.url}; "
            f"{plural(waiting, 'address was,addresses were')} waiting."
        )
        raised = Fix(f"Set limit to {number(limit)}", point_id=point.id, change={"max_pages": limit})
        yield FoundProblem("page_limit", WARN, sentence, str(point.id), (raised, _urls("page_limit", "Show them")))


def _run_limit(point: PointSettings, waiting: int) -> FoundProblem:
    pages = plural(point.max_pages, "page")
    sentence = (
        f"Stopped at the limit of {pages} which this run had for {point.url}; "
        f"{plural(waiting, 'address was,addresses were')} waiting."
    )
    return FoundProblem("page_limit", INFO, sentence, str(point.id), (_urls("page_limit", "Show them"),))


def depth_limit(facts: ExcursionFacts) -> Iterator[FoundProblem]:
    for start in facts.starts:
        point, deep = start.point, facts.deep.get(start.point.id, 0)
        if deep < max(MANY_DEEP, facts.pages // 10):
            continue
        deeper = Fix(f"Set depth limit to {point.depth + 1}", point_id=point.id, change={"depth": point.depth + 1})
        sentence = f"{plural(deep, 'address was,addresses were')} one click too deep for {point.url}."
        yield FoundProblem("depth_limit", INFO, sentence, str(point.id), (deeper, _urls("too_deep", "Show them")))


def drop(facts: ExcursionFacts) -> Iterator[FoundProblem]:
    if facts.before and facts.pages < facts.before * DROP and facts.state in ("finished", "finished_at_limit"):
        less = round(100 - 100 * facts.pages / facts.before)
        earlier = f"run {facts.before_run}" if facts.before_run else "the crawl before"
        counts = f"{number(facts.pages)} instead of {number(facts.before)}"
        sentence = f"{less}% fewer pages than in {earlier}: {counts}."
        yield FoundProblem("drop", WARN, sentence, "", (Fix("What changed", CHANGES),))


def trap(facts: ExcursionFacts) -> Iterator[FoundProblem]:
    for one in facts.alike:
        sentence = (
            f"{plural(one.count, 'address differs,addresses differ')} only in {one.parameter}= and mostly say the same."
        )
        pattern = f"*{one.parameter}=*"
        without = Fix(f"Exclude {pattern} ({number(one.count)} → 0)", exclude=pattern)
        fixes = (without, Fix("Show them", PAGES, {"q": f"{one.parameter}="}))
        yield FoundProblem("trap", WARN, sentence, one.parameter[:100], fixes)
    suspected = facts.reasons["trap_suspected"]
    if suspected:
        sentence = (
            f"{plural(suspected, 'address that looks endless was,addresses that look endless were')} not crawled."
        )
        yield FoundProblem("trap", INFO, sentence, "", (_urls("trap_suspected", "Show them"),))
    if facts.dated >= MANY_DATED and facts.dated * 2 > facts.pages:
        sentence = (
            f"{plural(facts.dated, 'address names,addresses name')} a day or a month: a calendar may have no end."
        )
        show = Fix("Show the pages", PAGES, {"site": facts.calendar[0]} if facts.calendar[0] else {"sort": "url"})
        yield FoundProblem("trap", WARN, sentence, "calendar", (*_without_calendar(facts), show))


def _without_calendar(facts: ExcursionFacts) -> list[Fix]:
    """Unless that would take a crawl point with it."""
    beginning, count = facts.calendar
    if not beginning or any(start.point.url.startswith(beginning) for start in facts.starts):
        return []
    return [Fix(f"Exclude {beginning}* ({number(count)} → 0)", exclude=f"{beginning}*")]


def login_wall(facts: ExcursionFacts) -> Iterator[FoundProblem]:
    count = facts.reasons["login_page"] + facts.reasons["auth_required"]
    if not count:
        return
    code = "login_page" if facts.reasons["login_page"] else "auth_required"
    one = facts.starts[0].point if len(facts.starts) == 1 else None
    sentence = f"{plural(count, 'page looks like a sign-in page,pages look like a sign-in page')}."
    if code == "auth_required":
        sentence = f"{plural(count, 'page asks,pages ask')} for a password."
    yield FoundProblem("login_wall", WARN, sentence, "", (_update("Set authentication", one), _errors(code)))


def robots(facts: ExcursionFacts) -> Iterator[FoundProblem]:
    count = facts.reasons["robots_disallowed"]
    if count:
        sentence = f"robots.txt blocked {plural(count, 'address,addresses')}."
        yield FoundProblem("robots", INFO, sentence, "", (_urls("robots_disallowed", "Show the rule"),))


def throttled(facts: ExcursionFacts) -> Iterator[FoundProblem]:
    if facts.slow_down < MANY_TIMES and not facts.throttled:
        return
    times = plural(max(facts.slow_down, facts.throttled), "time")
    failed = f" until {plural(facts.throttled, 'address,addresses')} failed" if facts.throttled else ""
    speed = f"the run's speed was {facts.speed.title()}"
    sentence = f"The site asked {times} to slow down{failed}; {speed}."
    fixes = [] if facts.speed == "polite" else [Fix("Crawl it at speed Polite", LAUNCH, {"speed": "polite"})]
    fixes += [Fix("Show them", ERRORS, {"status": 429})] if facts.throttled else []
    yield FoundProblem("throttled", WARN, sentence, "", tuple(fixes))


def duplicates(facts: ExcursionFacts) -> Iterator[FoundProblem]:
    if facts.same_text >= MANY_SAME:
        sentence = f"{plural(facts.same_text, 'page has,pages have')} the same content as another page."
        yield FoundProblem("duplicates", INFO, sentence, "", (Fix("Show groups", PAGES, {"only": "same"}),))


def unread(facts: ExcursionFacts) -> Iterator[FoundProblem]:
    if facts.unread:
        sentence = f"{plural(facts.unread, 'PDF file')} had no readable text (scanned?)."
        yield FoundProblem("unread", INFO, sentence, "", (Fix("Show the PDF files", PAGES, {"only": "no_text"}),))


def links_inside(point: PointSettings, addresses: Iterable[str]) -> int:
    """How many different addresses a crawl of this point might follow."""
    return len({url for url in addresses if begins_with(url, point.root) and url != point.url})


def _urls(reason: str, label: str) -> Fix:
    return Fix(label, URLS, {"reason": reason})


def _errors(reason: str) -> Fix:
    return Fix("Show them", ERRORS, {"reason": reason})


def _update(label: str, point: PointSettings | None) -> Fix:
    return Fix(label, POINT, point_id=point.id) if point else Fix(label, POINTS)


Rule = Callable[[ExcursionFacts], Iterator[FoundProblem]]
RULES: tuple[Rule, ...] = (
    start_failed, start_redirects, auth_failed, only_start, tiny, page_limit, depth_limit, drop, trap, login_wall,
    robots, throttled, duplicates, unread,
)  # fmt: skip
