"""Owns: more rows of every kind that a list shows, of the world of the record."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from tests.recorded.world import World

_URL = "https://quality.example.gov/measures/"


def grow(one: World, begin: int, end: int) -> None:
    """The rows with these numbers, of each kind."""
    for number in range(begin, end):
        _document(one, number)
        _of_the_document(one, number)
        _of_the_run(one, number)
        _of_everybody(one, number)


def _document(one: World, number: int) -> None:
    """Another document of the editor with a crawl that ended, a request and a finding."""
    from clearinghouse.library import services
    from crawler.models import CrawlRequest, Finding
    from crawlpoints import services as crawlpoints
    from tests.crawler.runs.rows import make_run

    document = services.add_document(f"Document {number}", project=one.document.sheet.project.name)
    services.assign(document, one.people["editor"])
    url = f"https://quality.example.gov/{number}/"
    crawlpoints.add_crawl_point(document, {"url": url, "root": url, "depth": 2})
    run = make_run(document, state="finished", queued=0)
    CrawlRequest.objects.create(doc_id=document.pk, title="t", asked_by="editor", asked_at=timezone.now())
    Finding.objects.create(
        excursion=run.excursions.get(),
        run_id=run.pk,
        doc_id=document.pk,
        rule="page_limit",
        weight=2,
        sentence="Stopped",
    )


def _of_the_document(one: World, number: int) -> None:
    from crawler.launching.launch import snapshot_of
    from crawler.models import Preview
    from crawlpoints import services as crawlpoints
    from crawlpoints.documents import document_notes
    from crawlpoints.imports import import_steps

    url = f"{_URL}{number}/"
    crawlpoints.add_crawl_point(one.document, {"url": url, "root": url, "depth": 2})
    crawlpoints.add_exclude_url(one.document, f"{url}print/*")
    document_notes.add_note(one.document, f"Note {number}")
    import_steps.ask(one.document, ["url\n"], "editor")
    import_steps.Import.objects.update(state="cancelled")
    own = {"doc_id": one.document.pk, "asked_by": "editor", "snapshot": snapshot_of(one.document).to_json()}
    Preview.objects.create(**own, asked_at=timezone.now(), finished_at=timezone.now(), entries={})


def _of_the_run(one: World, number: int) -> None:
    """What the run of the arguments holds: addresses, lines of its log, findings, groups of errors."""
    from clearinghouse.database.digests import digest_of
    from crawler.models import ErrorGroup, Event, Finding, LedgerEntry, Run

    run = Run.objects.get(pk=one.given["run_id"])
    excursion, url = run.excursions.get(), f"{_URL}more-{number}.html"
    own = {"excursion": excursion, "run_id": run.pk, "doc_id": one.document.pk}
    LedgerEntry.objects.create(
        excursion=excursion, doc_id=one.document.pk, url_key=digest_of(url), url=url, outcome="failed",
        reason="http_4xx", status=404, depth=1, found_on=digest_of(_URL), at=timezone.now(), taken=True,
    )  # fmt: skip
    Event.objects.create(run=run, doc_id=one.document.pk, at=timezone.now(), kind="start", text=f"Line {number}")
    Finding.objects.create(**own, rule="page_limit", subject=str(number), weight=2, sentence="Stopped")
    ErrorGroup.objects.create(
        **own, ended_at=timezone.now(), key=digest_of(f"timeout {number}"), reason="timeout",
        site="https://quality.example.gov", pattern=f"/{number}/", count=1, example=url,
    )  # fmt: skip


def _of_everybody(one: World, number: int) -> None:
    """People, plans, propagations, rules of the search, views, notices, pages that are published."""
    from clearinghouse.accounts.keys import api_keys
    from clearinghouse.accounts.models import Role
    from clearinghouse.library.models import Project
    from clearinghouse.search.curation import services as curation
    from clearinghouse.search.curation.services import Given
    from crawler.models import Propagation, Schedule
    from crawlpoints.models import SavedView
    from tests.people import make_person

    now, project = timezone.now(), one.document.sheet.project
    api_keys.create(make_person(f"person{number}", Role.DEVELOPER, project), "key")
    Project.objects.create(name=f"Project {number}")
    Schedule.objects.create(created_by="administrator", created_at=now, next_at=now + timedelta(days=1))
    Propagation.objects.create(requested_by="administrator", state="done", created_at=now)
    curation.add(Given("synonym", f"heart{number}", f"cardiac{number}", False, project.pk, project.name))
    for name in ("administrator", "editor"):
        SavedView.objects.create(person=one.people[name], name=f"View {number}", query=f"text={number}")
        _notice(one.people[name], number)
    _published(one, number)


def _notice(person: Any, number: int) -> None:
    from crawler.models import Delivery, Notice

    key = f"{person.pk} {number}"
    notice = Notice.objects.create(key=key, event="run_finished", sentence=f"Notice {number}", at=timezone.now())
    Delivery.objects.create(notice=notice, person_id=person.pk, because="You launched it")


def _published(one: World, number: int) -> None:
    """In the generation that is live already."""
    from tests.search.library import publish

    page = {
        "doc_id": one.document.pk,
        "page_id": 100 + number,
        "url": f"{_URL}{number}.html",
        "text": "words",
        "title": "A",
    }
    publish("primary", [page])
