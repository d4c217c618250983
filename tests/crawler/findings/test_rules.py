"""Each diagnosis rule: its sentence, its repair, and a case in which it keeps quiet."""

from collections import Counter
from typing import Any

from crawler.findings.diagnosis_rules import advice, look
from crawler.findings.ledger_figures import Figures, LedgerLine, alike, repeated
from crawler.findings.types import Alike, ExcursionFacts, Fix, FoundProblem, Start
from crawler.values import PointSettings
from tests.proves import proves

POINT = PointSettings(id=7, url="https://ex.gov/a/", root="https://ex.gov/a/", depth=3, max_pages=500)


def said(rule: str, **facts: Any) -> FoundProblem | None:
    values = {"state": "finished", "pages": 100, "bytes": 100_000, "fetched": 100} | facts
    return next((one for one in look(ExcursionFacts(**values)) if one.rule == rule), None)


def start(**values: Any) -> tuple[Start, ...]:
    return (Start(**({"point": POINT, "outcome": "crawled", "links_inside": 9} | values)),)


def test_nothing_is_said_of_an_ordinary_crawl() -> None:
    facts = ExcursionFacts(state="finished", pages=100, bytes=90_000, before=101, fetched=104, failed=3, starts=start())
    assert look(facts) == [] and advice(facts, []) == "propagate"


def test_only_the_start_page() -> None:
    found = said("only_start", pages=1, before=412, starts=start(links_inside=0))
    assert found is not None
    expected = "Only 1 page was stored; the previous run had 412. The start page has 0 links inside the root string."
    assert found.sentence == expected
    assert [fix.label for fix in found.fixes] == ["Show its links", "Change root string"]
    flat = PointSettings(id=7, url="https://ex.gov/a/", root="https://ex.gov/a/", depth=0)
    assert said("only_start", pages=1, starts=start(point=flat)) is None


@proves("D18")
def test_a_start_page_that_redirects_outside_offers_the_new_address() -> None:
    moved = start(outcome="skipped", reason="redirect_outside_root", redirect_url="https://www.ex.gov/b/index.html")
    found = said("start_redirects", starts=moved)
    assert found is not None and "redirects to https://www.ex.gov/b/index.html" in found.sentence
    assert found.fixes[0].change == {"url": "https://www.ex.gov/b/index.html", "root": "https://www.ex.gov/b/"}
    assert said("start_redirects", starts=start()) is None


def test_a_start_page_that_failed_three_times_may_be_deactivated() -> None:
    once = said("start_failed", starts=start(outcome="failed", reason="http_4xx", status=404, failing_runs=1))
    assert once is not None
    start_page, advice = "The start page https://ex.gov/a/", "Enter its new address in the crawl point."
    assert once.sentence == f"{start_page} answered 404 (not found). {advice}"
    silent = said("start_failed", starts=start(outcome="failed", reason="dns_failed"))
    assert silent is not None
    assert silent.sentence.startswith(f"{start_page} could not be crawled: the host name is unknown. Look for a slip")
    assert [fix.label for fix in once.fixes] == ["Update crawl point"]
    often = said("start_failed", starts=start(outcome="failed", reason="http_4xx", status=404, failing_runs=3))
    assert often is not None and "(not found) in 3 runs. " in often.sentence
    assert often.fixes[1] == Fix("Deactivate", point_id=7, change={"active": 0})


def test_a_page_limit_offers_the_next_hundred() -> None:
    found = said("page_limit", starts=start(), cut={7: 730})
    assert found is not None and "730 addresses were waiting" in found.sentence
    assert found.fixes[0] == Fix("Set limit to 1,300", point_id=7, change={"max_pages": 1300})
    assert said("page_limit", starts=start(), cut={7: 0}) is None


def test_a_limit_of_the_run_offers_no_other_limit_for_the_crawl_point() -> None:
    found = said("page_limit", starts=start(), cut={7: 730}, of_the_run=frozenset({7}))
    assert found is not None and [fix.label for fix in found.fixes] == ["Show them"] and found.weight == 1
    assert found.sentence.startswith("Stopped at the limit of 500 pages which this run had for https://ex.gov/a/;")


def test_a_depth_limit_that_cut_a_lot_offers_one_more_click() -> None:
    found = said("depth_limit", starts=start(), deep={7: 640})
    assert found is not None and found.sentence.startswith("640 addresses were one click too deep")
    assert found.fixes[0].change == {"depth": 4}
    assert said("depth_limit", starts=start(), deep={7: 9}) is None


def test_a_fifth_fewer_pages_is_a_drop() -> None:
    found = said("drop", pages=62, before=100, before_run=9)
    assert found is not None
    assert found.sentence == "38% fewer pages than in run 9: 62 instead of 100."
    assert said("drop", pages=80, before=100) is None


def test_the_counted_reasons_are_said() -> None:
    sentences = {
        "auth_failed": ("auth_failed", "The site refused the saved user ID (1 address)."),
        "login_page": ("login_wall", "37 pages look like a sign-in page."),
        "robots_disallowed": ("robots", "robots.txt blocked 96 addresses."),
        "trap_suspected": ("trap", "2 addresses that look endless were not crawled."),
    }
    for (code, (rule, sentence)), count in zip(sentences.items(), (1, 37, 96, 2), strict=True):
        found = said(rule, reasons=Counter({code: count}), starts=start())
        assert found is not None and found.sentence == sentence
        assert said(rule, starts=start()) is None


@proves("rule 12", "F11")
def test_the_other_facts_are_said() -> None:
    facts: list[tuple[str, dict[str, Any], str]] = [
        ("tiny", {"bytes": 61}, "61 bytes were stored."),
        ("trap", {"alike": (Alike("sessionid", 212),)}, "212 addresses differ only in sessionid= and mostly say"),
        ("trap", {"dated": 300, "pages": 320}, "300 addresses name a day or a month"),
        ("throttled", {"throttled": 18}, "The site asked 18 times to slow down until 18 addresses failed"),
        (
            "throttled",
            {"slow_down": 40, "throttled": 1},
            "The site asked 40 times to slow down until 1 addr",
        ),
        (
            "throttled",
            {"slow_down": 5},
            "The site asked 5 times to slow down; the run's speed was Polite.",
        ),
        ("duplicates", {"same_text": 120}, "120 pages have the same content as another page."),
        ("unread", {"unread": 14}, "14 PDF files had no readable text (scanned?)."),
    ]
    for rule, values, sentence in facts:
        found = said(rule, **values)
        assert found is not None and found.sentence.startswith(sentence), rule


def test_a_site_that_asked_to_slow_down_is_asked_more_politely() -> None:
    assert said("throttled", slow_down=4) is None, "now and then is nothing odd"
    labels = {speed: [fix.label for fix in found.fixes] for speed in ("polite", "fast")
              if (found := said("throttled", slow_down=9, speed=speed))}  # fmt: skip
    assert labels == {"polite": [], "fast": ["Crawl it at speed Polite"]}
    failed = said("throttled", slow_down=9, throttled=2)
    assert failed is not None and failed.fixes[-1] == Fix("Show them", "errors", {"status": 429})


def test_a_calendar_is_left_out_by_its_largest_folder() -> None:
    figures = Figures()
    for number in range(130):
        figures.add(line(f"https://ex.gov/a/cal/2026/{number % 12 + 1}/{number}", "crawled", size=1))
        figures.add(line(f"https://ex.gov/a/list?x=1&year=20{number:03}", "crawled", size=1))
    figures.add(line("https://ex.gov/a/cal/2026/1/new", "crawled", size=1))
    assert figures.dated == {"https://ex.gov/a/cal/": 131, "https://ex.gov/a/list?": 130}
    found = said("trap", dated=261, pages=300, calendar=("https://ex.gov/a/cal/", 131), starts=start())
    assert found is not None and found.fixes == (
        Fix("Exclude https://ex.gov/a/cal/* (131 → 0)", exclude="https://ex.gov/a/cal/*"),
        Fix("Show the pages", "pages", {"site": "https://ex.gov/a/cal/"}),
    )
    whole = said("trap", dated=261, pages=300, calendar=("https://ex.gov/a/", 131), starts=start())
    assert whole is not None and [fix.label for fix in whole.fixes] == ["Show the pages"], "the start page is in it"


def test_a_tiny_result_opens_its_one_page() -> None:
    found = said("tiny", pages=1, bytes=61, only_page=17)
    assert found is not None and found.fixes == (Fix("Open the page", "page", {"row": 17}),)
    several = said("tiny", pages=2, bytes=61)
    assert several is not None and several.fixes == (Fix("Show the pages", "pages"),)


def test_the_advice_follows_the_findings() -> None:
    refused = start(outcome="failed", reason="timeout", failing_runs=1)
    again = ExcursionFacts(state="finished", pages=3, bytes=9000, fetched=4, failed=1, starts=refused)
    assert advice(again, look(again)) == "again"
    review = ExcursionFacts(state="finished", pages=50, bytes=90_000, before=100, fetched=50)
    assert advice(review, look(review)) == "review"
    informed = ExcursionFacts(
        state="finished", pages=50, bytes=90_000, fetched=50, reasons=Counter({"robots_disallowed": 3})
    )
    assert look(informed) and advice(informed, look(informed)) == "propagate"
    assert advice(ExcursionFacts(state="failed"), []) == "again"


def test_a_parameter_that_only_multiplies_addresses_is_found() -> None:
    sessions = [(f"https://ex.gov/a?sessionid={n}", b"same") for n in range(30)]
    listed = [(f"https://ex.gov/list?page={n}", b"%d" % n) for n in range(30)]
    assert list(alike([*sessions, *listed])) == [Alike("sessionid", 30)]
    assert list(alike(sessions[:19])) == []
    assert repeated([b"a", b"a", b"a", b"b"]) == 3, "as many as the list behind the finding has"


def line(url: str, outcome: str, reason: str = "", **values: Any) -> LedgerLine:
    given = {"detail": "", "status": 0, "size": 0, "milliseconds": 0, "version_id": None, "previous_version_id": None}
    return LedgerLine(url=url, outcome=outcome, reason=reason, **(given | {"point_id": 7} | values))


def test_a_ledger_is_summed_up_by_site_error_and_exclude() -> None:
    figures = Figures()
    for one in [
        line("https://ex.gov/1", "crawled", size=10, milliseconds=100, version_id=1),
        line("https://ex.gov/2", "crawled", size=20, milliseconds=300, version_id=3, previous_version_id=2),
        line("https://ex.gov/3", "unchanged", size=30, milliseconds=200, version_id=4, previous_version_id=4),
        line("https://ex.gov/item/17", "failed", "http_4xx", status=404),
        line("https://ex.gov/item/18", "failed", "http_4xx", status=404),
        line("https://ex.gov/print/1", "skipped", "excluded", detail="https://ex.gov/print/*"),
        line("https://ex.gov/late", "skipped", "page_limit"),
        line("https://other.org/", "skipped", "outside_root"),
    ]:
        figures.add(one)
    site = figures.sites["ex.gov"]
    assert (site.new, site.changed, site.unchanged, site.failed, site.excluded, site.waiting) == (1, 1, 1, 2, 1, 1)
    assert site.median_ms == 200 and figures.sites["other.org"].outside == 1
    assert [(group.pattern, group.count) for group in figures.top_groups()] == [("/item/N", 2)]
    assert figures.excludes == {"https://ex.gov/print/*": 1} and figures.cut[7] == 1
    assert figures.stored_bytes == 60
    assert [host for host, _ in figures.top_sites()] == ["ex.gov", "other.org"]
