"""Sentences, sums and charts."""

import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils.html import strip_tags

from crawler.launching import launch
from crawler.launching.control import CANCEL, PAUSE, STOP
from crawler.models import LedgerEntry, Run
from crawler.runs.crawl_pace import MINUTES, CrawlPace, Seen, _pace, pace_of
from crawler.runs.queries import ASKED
from crawler.runs.run_counts import Tallies, Totals
from crawler.runs.run_json import run_result
from crawler.runs.run_recap import Aftermath
from crawler.runs.run_status import Standing, limits_in, slow_word, slow_words
from crawler.runs.tabs.tab_log import WORDS
from crawler.runs.views import run_charts
from crawler.runs.views.run_sentence import state_code, state_word, verdict
from crawler.sites.queries import Awaited

NOW = datetime(2026, 11, 18, 14, 3, 22, tzinfo=UTC)


def a_run(state: str, **values: Any) -> Run:
    start = NOW - timedelta(minutes=27)
    ended = {} if state in ("waiting", "running", "paused") else {"finished_at": NOW}
    return Run(pk=207, state=state, started_at=start, **(ended | values))


SUMS = Totals(documents=62, found=2242, queued=626, crawled=31, unchanged=374, redirected=4, skipped=1204, failed=3)


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ("waiting", "Waiting for a free crawler instance: 62 documents to crawl."),
        (
            "running",
            "Crawling 62 documents. 412 of 1,038 pages found so far are done; 3 errors; about 38 pages a minute.",
        ),
        ("paused", "Paused; nothing is lost. 412 of 1,038 pages found so far are done; 3 errors."),
        ("finished", "Finished in 27 min: 405 pages stored from 62 documents, 3 errors."),
        ("stopped", "Stopped after 27 min: 405 pages stored from 62 documents, 3 errors."),
        ("cancelled", "Cancelled after 27 min: the results of 62 documents were discarded; the earlier ones stay."),
    ],
)  # fmt: skip
def test_the_verdict_sentence(state: str, sentence: str) -> None:
    assert strip_tags(verdict(a_run(state), SUMS, 38, NOW)) == sentence


def test_an_early_end_says_who_asked_for_it_and_when() -> None:
    by = Standing(ended_by="anna", ended_at=datetime(2025, 3, 2, 14, 5, tzinfo=UTC))
    told = {state: strip_tags(verdict(a_run(state), SUMS, 0, NOW, standing=by)) for state in ("stopped", "cancelled")}
    at = "on 2 Mar 2025 at 14:05, after 27 min: "
    assert told["stopped"] == f"Stopped by anna {at}405 pages stored from 62 documents, 3 errors."
    assert told["cancelled"].startswith(f"Cancelled by anna {at}the results of 62 documents were discarded")


def test_a_cancelled_run_says_what_had_finished_before_and_is_kept() -> None:
    one, two = (strip_tags(verdict(a_run("cancelled"), SUMS, 0, NOW, standing=Standing(kept=kept))) for kept in (1, 2))
    assert "the results of 61 documents were discarded; the earlier ones stay. 1 document had finished" in one
    assert one.endswith("before; its results are kept.")
    assert two.endswith("2 documents had finished before; theirs are kept.")


def test_one_is_not_many() -> None:
    sums = Totals(documents=1, found=1, crawled=1)
    assert strip_tags(verdict(a_run("finished"), sums, 0, NOW)) == (
        "Finished in 27 min: 1 page stored from 1 document, no errors."
    )


def standing(**states: int) -> Standing:
    return Standing(Counter(states))


def test_state_words_say_what_was_asked_and_which_limit_was_met() -> None:
    assert state_word(a_run("running", control="stop")) == "Stopping"
    limits = limits_in({"page_limit": 3, "outside_root": 9})
    assert state_word(a_run("finished_at_limit"), Standing(limits=limits)) == "Finished at limit (maximum pages)"
    assert limits_in({"page_limit": 1, "run_limit": 2}) == "maximum pages and the run's limit"
    assert state_word(a_run("finished")) == ""
    assert state_word(a_run("paused"), Standing(paused_by="by anna")) == "Paused (by anna)"
    assert [state_word(a_run(state)) for state in ("stopped", "cancelled", "failed")] == [
        "Stopped (kept)", "Cancelled (discarded)", "Failed (a fault of ours)",
    ]  # fmt: skip


def test_a_run_is_paused_when_its_last_document_rests() -> None:
    going_on, resting = standing(running=1, paused=2), standing(paused=3)
    assert state_word(a_run("paused", control="pause"), going_on) == "Pausing"
    assert state_word(a_run("paused", control="pause"), resting) == ""
    told = strip_tags(verdict(a_run("paused"), SUMS, 0, NOW, standing=going_on))
    assert told.startswith("Pausing; what is being fetched is finished first. 412 of 1,038")


@pytest.mark.parametrize(("state", "word"), [("paused", "Pausing"), ("stopping", "Stopping")])
def test_a_pause_and_an_early_end_say_what_they_wait_for(state: str, word: str) -> None:
    said = {
        (0, 3, 1): "waiting for 3 pages that are being read.",
        (1, 0, 1): "waiting for 1 page that is being fetched.",
        (2, 1, 2): "waiting for 1 page that is being read and 2 pages that are being fetched.",
        (0, 0, 1): "waiting for 1 crawler instance to answer.",
    }
    for awaited, words in said.items():
        waiting = replace(standing(running=1), awaited=Awaited(*awaited))
        assert strip_tags(verdict(a_run(state), SUMS, 0, NOW, standing=waiting)).startswith(f"{word}; {words} 412 of")


@pytest.mark.parametrize(
    ("times", "word"), [(0, "Interrupted, resuming"), (1, "Interrupted, resuming (1st time)"),
                        (2, "Interrupted, resuming (2nd time)"), (11, "Interrupted, resuming (11th time)"),
                        (23, "Interrupted, resuming (23rd time)")],
)  # fmt: skip
def test_a_run_whose_documents_wait_for_an_heir_is_interrupted(times: int, word: str) -> None:
    dead = replace(standing(interrupted=2, finished=1), interruptions=times)
    assert (state_code(a_run("running"), dead), state_word(a_run("running"), dead)) == ("interrupted", word)
    assert strip_tags(verdict(a_run("running"), SUMS, 0, NOW, standing=dead)).startswith("Interrupted; it continues by")
    other = standing(interrupted=1, running=1)
    assert (state_code(a_run("running"), other), state_word(a_run("running"), other)) == ("running", "")


def test_a_run_nobody_serves_yet_is_starting_or_resuming() -> None:
    assert state_word(a_run("running"), standing(waiting=3)) == "Starting"
    assert state_word(a_run("running"), replace(standing(waiting=1, finished=2), begun=True)) == "Resuming"
    assert state_word(a_run("running"), standing(waiting=3, running=1)) == ""


def test_a_slow_run_says_what_holds_it_up() -> None:
    at = NOW.timestamp()
    word = slow_word(at + 90, 0, at)
    slow = replace(standing(running=1), slow=slow_words({"https://slow.example.gov": word}))
    assert state_word(a_run("running"), slow) == "Running slowly (slow.example.gov asked to wait)"
    assert slow_word(0, at - 60, at) == "does not answer" and slow_word(at, 0, at) == ""
    assert slow_words({"https://a/": "x", "https://b/": "y"}) == "2 sites hold it up" and slow_words({}) == ""


def test_every_kind_of_event_has_words() -> None:
    written = re.compile(r"""note\([^,()]+(?:\.[a-z_]+)*, "([a-z_]+)\"""")
    sources = [path.read_text() for path in Path(launch.__file__).parents[1].rglob("*.py")]
    kinds = {kind for source in sources for kind in written.findall(source)}
    kinds |= {ASKED, PAUSE, STOP, CANCEL, "interrupted"}
    assert kinds >= {"launch", "excursion", "speed"} and kinds - WORDS.keys() == set()


def test_parts_of_a_bar_fill_it_and_none_vanishes() -> None:
    parts = run_charts.stack([("k-done", 10_000), ("k-off", 0), ("k-err", 1)])
    assert [part.css for part in parts] == ["k-done", "k-err"]
    widths = [float(part.width.rstrip("%")) for part in parts]
    assert sum(widths) == pytest.approx(99.7, abs=0.1) and min(widths) > 0.4
    assert run_charts.stack([]) == []


def test_depth_bars_are_drawn_to_one_scale() -> None:
    bars = run_charts.depth_bars(Tallies(depths={1: (207, 103), 0: (18, 100), 2: (0, 0)}))
    assert [(bar.depth, bar.done, bar.wanted) for bar in bars] == [(0, 18, 118), (1, 207, 310)]


def test_what_a_stopped_run_left_is_a_part_of_its_own() -> None:
    (bar,) = run_charts.depth_bars(Tallies(depths={1: (60, 0)}, left=Counter({1: 40})))
    assert (bar.done, bar.left, bar.wanted) == (60, 40, 100)
    assert [(part.css, part.x, part.width) for part in bar.parts] == [
        ("k-done", "0", "60.0%"),
        ("k-off", "60.8%", "39.2%"),
    ]
    (only,) = run_charts.depth_bars(Tallies(depths={0: (0, 0)}, left=Counter({0: 3})))
    assert [(part.css, part.x, part.width) for part in only.parts] == [("k-off", "0", "100.0%")]


def seen(times: list[datetime]) -> Seen:
    within = tuple(sum(NOW - at < timedelta(minutes=ago) for at in times) for ago in range(MINUTES + 1))
    return Seen(len(times), min(times, default=None), within)


def test_pages_per_minute() -> None:
    times = [NOW - timedelta(seconds=2 * k) for k in range(200)]
    pace = _pace(seen(times), NOW, NOW - timedelta(minutes=7), complete=True)
    assert pace.per_minute == 30 and pace.minutes == (0, 20, 30, 30, 30, 30, 30, 30)
    long = _pace(seen(times), NOW, NOW - timedelta(hours=3), complete=True)
    assert long.minutes == (0,) * 8 + (20, 30, 30, 30, 30, 30, 30)
    often = [NOW - timedelta(milliseconds=k) for k in range(3000)]
    fast = _pace(seen(often), NOW, NOW - timedelta(hours=1), complete=False)
    assert 59_000 < fast.per_minute < 61_000 and fast.minutes == ()
    assert _pace(seen([]), NOW, NOW, complete=True).per_minute == 0


@pytest.mark.django_db(databases=["default", "webcrawl"])
def test_the_pages_of_each_minute_are_counted_in_the_database(finished_run: Run) -> None:
    LedgerEntry.objects.filter(excursion__run=finished_run).update(at=NOW - timedelta(hours=1))
    pages = LedgerEntry.objects.filter(excursion__run=finished_run, outcome="crawled").order_by("id")
    for number, row in enumerate(pages[:4]):
        LedgerEntry.objects.filter(pk=row.pk).update(at=NOW - timedelta(seconds=50 * number))
    Run.objects.filter(pk=finished_run.pk).update(started_at=NOW - timedelta(minutes=4, seconds=5))
    finished_run.refresh_from_db()
    everything = set(finished_run.excursions.values_list("doc_id", flat=True))
    for pace in (pace_of(finished_run, None, NOW), pace_of(finished_run, everything, NOW)):
        assert pace.per_minute == 2 and pace.minutes == (0, 0, 1, 1, 2)
    assert pace_of(finished_run, set(), NOW) == CrawlPace()


@pytest.mark.django_db(databases=["default", "webcrawl"])
def test_the_result_of_a_run_is_the_crawl_object(finished_run: Run) -> None:
    result = run_result(finished_run)
    assert list(result) == [
        "run", "state", "found", "queued", "crawled", "unchanged", "redirected", "skipped", "failed", "bytes",
        "seconds",
    ]  # fmt: skip
    assert result["skipped"] == {"outside_root": 4, "excluded": 2, "robots_disallowed": 2, "too_deep": 2}
    assert result["failed"] == {"http_4xx": 2, "timeout": 2}
    outcomes = sum(result[name] for name in ("queued", "crawled", "unchanged", "redirected"))
    assert result["found"] == outcomes + sum(result["skipped"].values()) + sum(result["failed"].values())
    assert result["seconds"] == pytest.approx(300, abs=5)


@pytest.mark.parametrize(
    ("aftermath", "ending"),
    [
        (Aftermath(), "."),
        (Aftermath(206, Counter(changed=38, unchanged=9), 2),
         ", 38 pages changed since run 206. 2 findings need attention."),
        (Aftermath(206, Counter(gone=338, new=1), 1),
         ", 1 page added, 338 removed since run 206. 1 finding needs attention."),
        (Aftermath(since=206, findings=0), ", 0 pages changed since run 206."),
    ],
)  # fmt: skip
def test_the_verdict_says_what_changed_and_what_needs_attention(aftermath: Aftermath, ending: str) -> None:
    told = strip_tags(verdict(a_run("finished"), SUMS, 0, NOW, aftermath))
    assert told == f"Finished in 27 min: 405 pages stored from 62 documents, 3 errors{ending}"
