"""Threat T22: the expressions of a document may cost little together, however many somebody writes."""

import time
from typing import Any

import pytest

from clearinghouse.addresses import MAX_LENGTH, Refusal
from clearinghouse.addresses.patterns import WEIGHT_AT_MOST, compile_exclude, weight
from clearinghouse.library.models import Document
from crawlpoints import services
from crawlpoints.imports import short_import
from crawlpoints.models import ExcludeUrl
from crawlpoints.panel import exclude_hits
from crawlpoints.point_checks import TOO_HEAVY, Around, Invalid, check_exclude, check_point
from crawlpoints.queries import patterns_of

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
URL = "https://quality.example.gov/measures/"
SLOW = [f"regex:((a?){{30}}){{30}}{end}$" for end in "bcdefghijk"]  # 1,800 steps each, and nothing is ever left out
LONGEST = URL + "a" * (MAX_LENGTH - len(URL))


def test_t22_what_may_be_saved_is_matched_in_a_moment() -> None:
    allowed = [pattern for number, pattern in enumerate(SLOW, start=1) if weight(SLOW[:number]) <= WEIGHT_AT_MOST]
    assert 5 <= len(allowed) < len(SLOW)
    compiled = [compile_exclude(pattern) for pattern in allowed]
    began = time.process_time()
    for exclude in compiled:
        assert not isinstance(exclude, Refusal) and not exclude.matches(LONGEST)
    assert time.process_time() - began < 0.5


def test_t22_two_hundred_usual_expressions_are_not_too_many() -> None:
    usual = [f"regex:/print/{number}|[?&](print|format)=(pdf|print{number})" for number in range(200)]
    check_point({"url": URL, "root": URL, "excludes": usual}, Around())


def test_t22_more_of_them_are_refused_by_every_door(program: Any, editor: Any, document: Document) -> None:
    with pytest.raises(Invalid, match="shorter"):
        for pattern in SLOW:
            services.add_exclude_url(document, pattern)
    kept = patterns_of(document)
    assert weight(kept) <= WEIGHT_AT_MOST < weight([*kept, SLOW[-1]])
    status, said = program(editor).ask("POST", f"documents/{document.pk}/exclude-urls/", {"pattern": SLOW[-1]})
    assert (status, said["fields"]) == (422, {"pattern": [TOO_HEAVY]})
    plan = short_import.plan_excludes(document, "\n".join(SLOW))
    assert [line.message for line in plan.lines if line.message] == [TOO_HEAVY] * (len(SLOW) - len(kept))
    with pytest.raises(Invalid):
        services.add_crawl_point(document, {"url": URL, "root": URL, "excludes": SLOW})
    assert weight(patterns_of(document)) <= WEIGHT_AT_MOST


def test_t22_what_an_adopted_document_has_may_stay(document: Document) -> None:
    for pattern in SLOW:
        ExcludeUrl(document=document, pattern=pattern).save()
    services.add_crawl_point(document, {"url": URL, "root": URL, "excludes": SLOW[1:]})
    assert check_exclude("https://quality.example.gov/x/*", [], SLOW)


def test_t22_who_looks_for_hits_waits_a_moment_only(document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exclude_hits, "SECONDS", 0.2)
    monkeypatch.setattr(exclude_hits, "_stored", lambda doc_id: [LONGEST] * 50_000)
    began = time.process_time()
    seen = exclude_hits.preview(document.pk, SLOW)
    assert time.process_time() - began < 2 and not seen.complete and 0 < seen.looked_at < 50_000
