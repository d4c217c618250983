"""The URL configuration as a list of routes, and the rows that fill the arguments of their addresses."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connections, transaction
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from clearinghouse.accounts.models import Role
from clearinghouse.audit.models import Entry
from clearinghouse.database.digests import digest_of
from clearinghouse.library.models import Document, Project
from clearinghouse.search.curation import services as curation
from clearinghouse.search.curation.services import Given
from crawler.launching.launch import snapshot_of
from crawler.models import CrawlRequest, ErrorGroup, Finding, LedgerEntry, Propagation, Run, Schedule
from crawler.preview import preview_rows as previews
from crawlpoints import services as crawlpoints
from crawlpoints.documents import document_notes
from crawlpoints.imports import import_steps
from tests.crawler.runs.rows import make_run
from tests.people import make_person
from tests.search.library import publish

WRITES = re.compile(r"\s*(INSERT|UPDATE|DELETE|REPLACE|ALTER|CREATE|DROP|TRUNCATE)\b", re.IGNORECASE)
# Reading a page may renew the session, and the look after a save takes a turn of its site; nothing else.
SESSION = ("clearinghouse_session", ' "host"')

# Arguments that mean something else at one address: url name -> values.
SPECIAL: dict[str, dict[str, Any]] = {"run-export": {"name": "pages.csv"}}


@dataclass(frozen=True)
class Route:
    name: str  # with its namespace; empty for a route nobody named
    arguments: tuple[str, ...]
    pattern: str
    view: Any

    def path(self, known: dict[str, Any]) -> str:
        known = known | SPECIAL.get(self.name, {})
        return reverse(self.name, kwargs={name: known[name] for name in self.arguments})


def _ended_import(document: Any) -> int:
    row = import_steps.ask(document, ["url\n"], "editor")
    import_steps.Import.objects.update(state="cancelled")
    return int(row.pk)


def routes(resolver: URLResolver | None = None, space: str = "", before: str = "/") -> Iterator[Route]:
    for entry in (resolver or get_resolver()).url_patterns:
        pattern = before + str(entry.pattern)
        if isinstance(entry, URLPattern):
            yield Route(f"{space}{entry.name}" if entry.name else "", _arguments(pattern), pattern, entry.callback)
        else:
            yield from routes(entry, f"{space}{entry.namespace}:" if entry.namespace else space, pattern)


def _arguments(pattern: str) -> tuple[str, ...]:
    return tuple(re.findall(r"<(?:\w+:)?(\w+)>", pattern))


def arguments(people: dict[str, Any], document: Document) -> dict[str, Any]:
    """A real row for every argument that occurs in an address; all of them belong to the editor's document."""
    url = "https://quality.example.gov/measures/"
    point, _ = crawlpoints.add_crawl_point(document, {"url": url, "root": url, "depth": 2})
    exclude = crawlpoints.add_exclude_url(document, f"{url}print/*")
    run = make_run(document, state="running")
    entry = LedgerEntry.objects.filter(excursion__run=run, version_id__isnull=False).earliest("id")
    now = timezone.now()
    asked = CrawlRequest.objects.create(doc_id=document.pk, title="t", asked_by="editor", asked_at=now)
    schedule = Schedule.objects.create(created_by="administrator", created_at=now)
    note = document_notes.add_note(document, "A note")
    preview = previews.ask(snapshot_of(document), "editor", {})
    propagation = Propagation.objects.create(requested_by="administrator", state="done", created_at=timezone.now())
    return {
        "doc_id": document.pk,
        "point_id": point.pk,
        "exclude_id": exclude.pk,
        "run_id": run.pk,
        "other_id": run.pk,
        "entry_id": entry.pk,
        "version_id": entry.version_id,
        "generation": propagation.pk,
        "page_id": indexed_page(document),
        "published_id": publish("primary", [{"title": "A page", "text": "words", "body": b"<p>words</p>"}])[0],
        "user_id": people["editor"].pk,
        "project_id": document.sheet.project_id,
        "rule_id": curation.add(Given("synonym", "heart", "cardiac", False, document.sheet.project_id, "Quality")).pk,
        "audit_id": Entry.objects.latest("id").pk,
        **found_in(run, document, url),
        "request_id": asked.pk,
        "schedule_id": schedule.pk,
        "note_id": note.pk,
        "preview_id": preview.pk,
        "import_id": _ended_import(document),
        "order": "cancel",
        "name": "coverage",
        "key_id": 999,
        "session": "nothing",
        "rest": "nothing/",
        "topic": "crawl-points",
        "action": "pause",
        "tab": "urls",
    }


def found_in(run: Run, document: Document, url: str) -> dict[str, Any]:
    """A finding of the run, and a group of its errors."""
    own = {"excursion": run.excursions.get(), "run_id": run.pk, "doc_id": document.pk}
    finding = Finding.objects.create(**own, rule="page_limit", weight=2, sentence="Stopped")
    error = ErrorGroup.objects.create(
        **own, ended_at=timezone.now(), key=digest_of("timeout"), reason="timeout",
        site="https://quality.example.gov", pattern="/", count=1, example=url,
    )  # fmt: skip
    return {"finding_id": finding.pk, "key": error.key.hex()}


def indexed_page(document: Document) -> int:
    """The id of a page of this document in the word index."""
    publish("primary", [{"doc_id": document.pk, "page_id": 77, "url": "https://x.example/77", "text": "words"}])
    return 77


def everybody(document: Document, other_document: Document) -> dict[str, Any]:
    """PEOPLE of the matrix but the visitor. `document` is in project 1, `other_document` in project 2."""
    from clearinghouse.library import services

    one, two = document.sheet.project, other_document.sheet.project
    people = {
        "nobody": _user("nobody"),
        "stranger": make_person("stranger", Role.DEVELOPER, two),
        "other_manager": make_person("other_manager", Role.MANAGER, two),
        "colleague": make_person("colleague", Role.DEVELOPER, one),
        "editor": make_person("editor", Role.DEVELOPER, one),
        "reader": make_person("reader", Role.INDEXER, one),
        "manager": make_person("manager", Role.MANAGER, one),
        "administrator": make_person("administrator", Role.ADMINISTRATOR),
        "superuser": _user("superuser", is_superuser=True, is_staff=True),
    }
    services.assign(document, people["editor"])
    services.assign(other_document, people["stranger"])
    return people


def _user(name: str, **more: Any) -> Any:
    from django.contrib.auth import get_user_model

    return get_user_model().objects.create_user(name, **more)


def project_one() -> tuple[Document, Document]:
    from clearinghouse.library import services

    Project.objects.get_or_create(name="Quality measures")
    own = services.add_document("Measures of hospital quality", project="Quality measures")
    return own, services.add_document("Asthma guideline", project="Guidelines")


@contextmanager
def undone() -> Iterator[None]:
    """Whatever happens inside is taken back in all databases."""
    with ExitStack() as stack:
        for alias in connections:
            stack.enter_context(transaction.atomic(using=alias))
        yield
        for alias in connections:
            transaction.set_rollback(True, using=alias)


@contextmanager
def writes() -> Iterator[list[str]]:
    """The statements inside that change rows of any database; those of the session and of turns are left out."""
    found: list[str] = []

    def look(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if WRITES.match(sql) and not any(table in sql for table in SESSION):
            found.append(sql[:200])
        return execute(sql, params, many, context)

    with ExitStack() as stack:
        for alias in connections:
            stack.enter_context(connections[alias].execute_wrapper(look))
        yield found
