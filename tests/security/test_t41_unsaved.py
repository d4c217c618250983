"""Threat T41: exclude URLs that are not saved cost what saved ones may not, and an answer takes as long as it likes.

Whoever only looks is refused what could not be saved; and explain, tester and preview end when their time is used up.
"""

import time
from typing import Any

import pytest
from django.urls import reverse

from clearinghouse.addresses import MAX_LENGTH
from clearinghouse.addresses.patterns import WEIGHT_AT_MOST, weight
from clearinghouse.library.models import Document
from crawler.errors import TimeUsedUp
from crawler.launching.launch import snapshot_of
from crawler.ledger import depths
from crawler.ledger.explain import explain
from crawler.models import Preview
from crawler.preview import dry_run, preview_rows, timed_rules
from crawler.preview.fetch_once import visit
from crawler.values import PointSettings, Snapshot
from crawlpoints import services
from crawlpoints.models import ExcludeUrl
from crawlpoints.point_checks import MOST_WRONG_LINES, TOO_HEAVY, Around, Invalid, check_point
from tests.crawler.conftest import crawl, make_document
from tests.sites.misbehaving import Site, page

pytestmark = pytest.mark.django_db(databases="__all__")
URL = "https://quality.example.gov/measures/"
LONGEST = URL + "a" * (MAX_LENGTH - len(URL))
HEAVY = [f"regex:((a?){{30}}){{30}}-{number}" for number in range(30)]  # in 7 KB with the addresses
SLOW = [f"regex:((a?){{30}}){{30}}-{number}" for number in range(5)]  # may be saved
UNREADABLE = [f"regex:{'[^a]' * 2}" + r"[\p{L}\p{N}]{200}" * 20 + str(number) for number in range(500)]


@pytest.fixture
def saved(document: Document) -> Document:
    services.add_crawl_point(document, {"url": URL, "root": URL, "depth": 2})
    return document


def test_t41_programs_are_refused_what_could_not_be_saved(editor: Any, program: Any, saved: Document) -> None:
    asks, began = program(editor), time.process_time()
    draft = {"url": URL, "root": URL}
    for path, body in (
        ("explain/", {"urls": [LONGEST], "excludes": HEAVY}),
        ("explain/", {"urls": [LONGEST], "draft": draft, "excludes": HEAVY}),
        ("explain/", {"urls": [LONGEST], "excludes": UNREADABLE}),
        ("fetch/", {"url": URL, "excludes": HEAVY}),
        ("previews/", {"excludes": HEAVY}),
        ("previews/", {"draft": draft, "excludes": HEAVY}),
    ):
        status, said = asks.ask("POST", f"documents/{saved.pk}/{path}", body)
        assert (status, said["fields"]) == (422, {"excludes": [TOO_HEAVY]}), path
    services.add_exclude_url(saved, SLOW[0])
    for pattern in SLOW[1:]:
        services.add_exclude_url(saved, pattern)
    one_more = {"urls": [URL], "exclude": "regex:((b?){30}){30}x$"}
    assert asks.ask("POST", f"documents/{saved.pk}/explain/", one_more)[0] == 422
    assert time.process_time() - began < 8


@pytest.mark.parametrize("do", ["test", "fetch", "preview"])
def test_t41_the_dialog_is_refused_it_with_the_entries_kept(
    do: str, editor: Any, signed_in: Any, saved: Document
) -> None:
    typed = {"url": URL, "root": URL, "depth": "2", "auth_type": "0", "excludes": "\n".join(HEAVY), "test": LONGEST}
    shown = signed_in(editor).post(reverse("crawl-point-new", args=[saved.pk]), typed | {"do": do})
    assert shown.status_code == 422 and TOO_HEAVY in shown.content.decode()
    assert "regex:((a?){30}){30}-29" in shown.content.decode()
    assert not Preview.objects.exists()


def test_t41_a_folder_too_many_is_refused_to_a_preview(editor: Any, signed_in: Any, saved: Document) -> None:
    row = preview_rows.ask(snapshot_of(saved), "editor", {})
    for pattern in SLOW:
        services.add_exclude_url(saved, pattern)
    Preview.objects.update(snapshot=snapshot_of(saved).to_json())
    again = reverse("preview-again", args=[saved.pk, row.pk])
    signed_in(editor).post(again, {"exclude": "regex:((b?){30}){30}x$"})
    assert Preview.objects.count() == 1


def test_t41_what_an_adopted_document_has_already_may_be_looked_at(saved: Document, program: Any, editor: Any) -> None:
    for pattern in HEAVY[:8]:
        ExcludeUrl(document=saved, pattern=pattern).save()
    assert weight(HEAVY[:8]) > WEIGHT_AT_MOST
    path = f"documents/{saved.pk}/explain/"
    assert program(editor).ask("POST", path, {"urls": [URL], "excludes": HEAVY[:8]})[0] == 200


def test_t41_finding_out_what_is_wrong_with_500_expressions_takes_a_moment() -> None:
    began = time.process_time()
    with pytest.raises(Invalid) as wrong:
        check_point({"url": URL, "root": URL, "excludes": UNREADABLE}, Around())
    assert len(wrong.value.errors["excludes"]) <= MOST_WRONG_LINES + 1
    assert time.process_time() - began < 6


@pytest.fixture
def little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timed_rules, "SECONDS", 0.3)
    monkeypatch.setattr(timed_rules.Deadline.__init__, "__defaults__", (0.3,))


@pytest.fixture
def slow(saved: Document) -> Document:
    """At the limit of what may be saved: an address costs a good part of a tenth of a second."""
    for pattern in SLOW:
        services.add_exclude_url(saved, pattern)
    return saved


LINES = [f"{LONGEST[:-3]}{number:03}" for number in range(200)]


def test_t41_explain_ends_when_its_time_is_used_up(
    slow: Document, editor: Any, program: Any, little_time: None
) -> None:
    began = time.monotonic()
    status, said = program(editor).ask("POST", f"documents/{slow.pk}/explain/", {"urls": LINES})
    assert (status, said["code"]) == (422, "too_long") and "test fewer addresses" in said["error"]
    assert time.monotonic() - began < 5


def test_t41_a_thousand_exclude_urls_are_read_once_for_all_addresses(
    document: Document, editor: Any, program: Any
) -> None:
    """Without a crawl point nothing is compared with them, and they took a minute all the same."""
    excludes = [f"http://b.org/{'é' * 150}{number}*" for number in range(1_000)]
    body = {"urls": [f"ftp://b.org/{number}" for number in range(200)], "excludes": excludes}
    began = time.process_time()
    status, said = program(editor).ask("POST", f"documents/{document.pk}/explain/", body)
    assert status == 200 and len(said["items"]) == 200, said
    assert time.process_time() - began < 2


def test_t41_the_tester_shows_what_it_has_and_says_that_it_gave_up(
    slow: Document, editor: Any, signed_in: Any, little_time: None
) -> None:
    browser, text = signed_in(editor), "\n".join(LINES)
    shown = browser.post(reverse("crawl-points-test", args=[slow.pk]), {"url": text, "do": "test"})
    assert "so it was stopped" in shown.content.decode() and len(shown.context["answers"]) < 200
    typed = {"url": URL, "root": URL, "auth_type": "0", "excludes": "\n".join(SLOW), "test": text, "do": "test"}
    shown = browser.post(reverse("crawl-point-new", args=[slow.pk]), typed)
    assert "so it was stopped" in shown.content.decode() and shown.context["test"] == text
    csv = browser.post(reverse("crawl-points-test-export", args=[slow.pk]), {"url": text})
    assert "so it was stopped" in b"".join(csv.streaming_content).decode().splitlines()[-1]


def heavy_page(site: Site) -> None:
    """A page of a site, with links that cost a minute together."""
    links = "".join(f'<a href="/{"a" * 1900}{number}x">x</a>' for number in range(600))
    site.pages["/"] = page(f"<title>Start</title>{links}")


def test_t41_a_look_and_a_preview_end_in_the_middle_of_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    with Site() as site:
        heavy_page(site)
        document = make_document({"url": site.url("/")}, excludes=tuple(SLOW))
        snapshot = snapshot_of(document)
        began = time.monotonic()
        assert "so it was stopped" in visit(snapshot, {}, site.url("/"), 1.5).verdict
        monkeypatch.setattr(dry_run, "SECONDS", 1.5)
        row = preview_rows.ask(snapshot, "editor", {})
        dry_run.carry_out(row.pk)
        row.refresh_from_db()
        assert row.finished_at and row.result["ended"] == "time"
        assert time.monotonic() - began < 12


def test_t41_the_ways_through_a_large_crawl_are_not_looked_for_beyond_the_time() -> None:
    with Site() as site:
        site.pages["/"] = page("".join(f'<a href="/{number}">x</a>' for number in range(40)))
        document = make_document({"url": site.url("/")})
        run = crawl(document)
    excursion = run.excursions.get()
    excursion.snapshot["excludes"] = SLOW
    used_up = timed_rules.Deadline(-1.0)
    with pytest.raises(TimeUsedUp):
        depths.depths_of(excursion, b"0" * 32, used_up)
    snapshot = Snapshot(1, (PointSettings(1, URL, URL),))
    with pytest.raises(TimeUsedUp):
        explain(snapshot, URL, rules=timed_rules.RulesInTime(snapshot, used_up))
