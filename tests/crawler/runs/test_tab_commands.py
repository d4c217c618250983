"""What the tabs of a run offer beside their rows: filters, Path, Exclude, what changed, new rows of the log."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from lxml import html

from clearinghouse.audit.models import Entry
from clearinghouse.library.models import Document
from clearinghouse.published.types import PDF
from crawler.findings.diagnosis import diagnose_due
from crawler.models import Event, Excursion, Finding, LedgerEntry, PageVersion, Run
from crawler.preview import preview_rows
from crawler.values import Snapshot
from crawlpoints.models import ExcludeUrl
from tests.crawler.runs.rows import SITE, Maker, fill, make_run
from tests.crawler.runs.test_live import fragments

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]


def links(page: Any, text: str) -> list[str]:
    """The addresses behind links that begin with these words, in the list."""
    tree = html.fromstring(page.content)
    return [one.get("href") for one in tree.xpath("//main//td//a") if one.text_content().startswith(text)]


def said(page: Any) -> str:
    return " ".join(html.fromstring(page.content).text_content().split())


def counted(page: Any) -> int:
    assert len(page.context["page"].object_list) == page.context["page"].paginator.count
    return int(page.context["page"].paginator.count)


def stored(run: Run, number: int) -> PageVersion:
    entry = LedgerEntry.objects.filter(excursion__run=run, version_id__isnull=False).order_by("id")[number]
    return PageVersion.objects.get(pk=entry.version_id)


# -- Pages --------------------------------------------------------------------------------------------------------


def test_pages_are_filtered_by_type_and_status(signed_in: SignedIn, editor: Any, document: Document) -> None:
    run, browser = make_run(document, state="finished", queued=0), signed_in(editor)
    version = stored(run, 1)
    PageVersion.objects.filter(pk=version.pk).update(type_id=PDF)
    LedgerEntry.objects.filter(version_id=version.pk).update(status=304)
    excursion = run.excursions.get()
    excursion.tallies |= {"type": {"1": 5, "2": 1}, "status": {"200": 5, "304": 1, "404": 1}}
    excursion.save()
    page = browser.get(f"/crawls/{run.pk}/pages/")
    tree = html.fromstring(page.content)
    assert tree.xpath("//select[@name='type']/option/text()") == ["Any", "HTML", "PDF"]
    assert tree.xpath("//select[@name='status']/option/text()") == ["Any", "200", "304"]
    everything = counted(page)
    assert counted(browser.get(f"/crawls/{run.pk}/pages/?type=2")) == 1
    assert counted(browser.get(f"/crawls/{run.pk}/pages/?type=1")) == everything - 1
    assert counted(browser.get(f"/crawls/{run.pk}/pages/?status=304")) == 1
    assert counted(browser.get(f"/crawls/{run.pk}/pages/?status=200&type=2")) == 0


def test_each_page_has_its_path_and_for_who_may_its_exclude(
    signed_in: SignedIn, editor: Any, reader: Any, document: Document
) -> None:
    run = make_run(document, state="finished", queued=0)
    page = signed_in(editor).get(f"/crawls/{run.pk}/pages/")
    paths, excludes = links(page, "Path"), links(page, "Exclude")
    assert len(paths) == len(excludes) == counted(page)
    assert b'id="path-h"' in signed_in(editor).get(paths[0].partition("#")[0]).content
    assert excludes[0].startswith(f"/documents/{document.pk}/exclude-urls/?pattern=https")
    assert links(signed_in(reader).get(f"/crawls/{run.pk}/pages/"), "Exclude") == []


def test_pages_of_the_same_content_are_listed_in_groups(signed_in: SignedIn, editor: Any, document: Document) -> None:
    run, browser = make_run(document, state="finished", queued=0), signed_in(editor)
    digest = stored(run, 0).digest
    for number in (0, 2, 3, 4, 5):
        PageVersion.objects.filter(pk=stored(run, number).pk).update(digest=digest)
    diagnose_due()
    finding = Finding.objects.get(run_id=run.pk, rule="duplicates")
    assert finding.sentence == "5 pages have the same content as another page."
    (door,) = [row["query"] for row in finding.fixes if row["label"] == "Show groups"]
    page = browser.get(f"/crawls/{run.pk}/pages/", door | {"doc": document.pk})
    assert counted(page) == 5 and "the same content as 4 other pages" in said(page)


def test_files_without_text_are_listed(signed_in: SignedIn, editor: Any, document: Document) -> None:
    run, browser = make_run(document, state="finished", queued=0), signed_in(editor)
    PageVersion.objects.filter(pk=stored(run, 1).pk).update(type_id=PDF, flags="no_text")
    PageVersion.objects.filter(pk=stored(run, 2).pk).update(type_id=PDF)
    diagnose_due()
    page = signed_in(editor).get(f"/crawls/{run.pk}/findings/")
    door = html.fromstring(page.content).xpath("//a[text()='Show the PDF files']/@href")[0]
    assert counted(browser.get(door)) == 1 and "no text was found" in said(browser.get(door))


def test_the_one_page_of_a_tiny_result_is_opened(signed_in: SignedIn, editor: Any, document: Document) -> None:
    now = timezone.now()
    run = Run.objects.create(state="finished", requested_by="x", created_at=now, started_at=now, finished_at=now)
    maker = Maker(run, document, "measures")
    entry = maker.page("", 0)
    maker.done("finished")
    diagnose_due()
    page = signed_in(editor).get(f"/crawls/{run.pk}/findings/")
    assert html.fromstring(page.content).xpath("//a[text()='Open the page']/@href") == [
        f"/crawls/{run.pk}/pages/{entry.pk}/"
    ]


# -- Hosts, Tree --------------------------------------------------------------------------------------------------


def test_hosts_of_several_documents_ask_for_the_document_first(
    signed_in: SignedIn, editor: Any, reader: Any, finished_run: Run, document: Document
) -> None:
    browser, here = signed_in(editor), f"/crawls/{finished_run.pk}/hosts/"
    (add, *_) = links(browser.get(here), "Add as crawl point")
    assert "Choose a document first" not in said(browser.get(here))
    assert "Choose a document first" in said(browser.get(here + add))
    assert links(browser.get(f"{here}?doc={document.pk}"), "Exclude")[0].startswith(f"/documents/{document.pk}/")
    assert links(signed_in(reader).get(here), "Add as crawl point") == []


def test_a_folder_of_the_tree_is_left_out_with_a_note(
    signed_in: SignedIn, editor: Any, reader: Any, document: Document
) -> None:
    run = make_run(document, state="finished", queued=0)
    browser, here = signed_in(editor), f"/crawls/{run.pk}/tree/"
    folder = f"{SITE}/measures/deep/"
    opened = f"{here}?folder={SITE}/measures/"
    assert any("measures" in link for link in links(browser.get(here), "Exclude this folder")), "nothing to open first"
    door = next(link for link in links(browser.get(opened), "Exclude this folder") if "deep" in link)
    (form,) = html.fromstring(browser.get(here + door).content).xpath("//form[.//input[@name='note'][@autofocus]]")
    assert "novalidate" in form.attrib, "what is missing is said in our words, not in those of a browser"
    sent = {one.get("name"): one.get("value") for one in form.xpath(".//input[@type='hidden']")}
    assert sent["folder"] == folder and sent["doc"] == str(document.pk)
    address = f"/crawls/{run.pk}/exclude-folder/"
    answer = browser.post(address, sent | {"note": " "}, follow=True)
    assert "Say in the note why" in said(answer) and not ExcludeUrl.objects.exists()
    assert f"Exclude {folder}" in said(answer), "the form is there again"
    before = LedgerEntry.objects.count(), PageVersion.objects.count()
    answer = browser.post(address, sent | {"note": "Old measures"}, follow=True)
    assert f"Added exclude URL {folder}*" in said(answer)
    assert ExcludeUrl.objects.get().pattern == f"{folder}*" and ExcludeUrl.objects.get().document_id == document.pk
    entry = Entry.objects.get(action="add", kind="excludeurl")
    assert entry.after["note"] == "Old measures" and "Old measures" in entry.sentence and entry.actor == "editor"
    assert before == (LedgerEntry.objects.count(), PageVersion.objects.count()), "nothing that is stored is touched"
    assert "is already in the list" in said(browser.post(address, sent | {"note": "Again"}, follow=True))
    assert links(signed_in(reader).get(opened), "Exclude this folder") == []
    assert signed_in(reader).post(address, sent | {"note": "x"}).status_code == 403
    assert browser.post(address, sent | {"note": "x", "doc": "999"}).status_code == 404


def test_an_excluded_folder_is_taken_back_where_it_was_excluded(
    signed_in: SignedIn, editor: Any, document: Document
) -> None:
    run = make_run(document, state="finished", queued=0)
    browser, here = signed_in(editor), f"/crawls/{run.pk}/tree/"
    sent = {"folder": f"{SITE}/measures/deep/", "doc": document.pk, "note": "Old measures"}
    answer = browser.post(f"/crawls/{run.pk}/exclude-folder/", sent, follow=True)
    ((form),) = html.fromstring(answer.content).xpath("//form[.//button[@data-key='undo']]")
    assert "Undo" not in said(browser.get(f"/crawls/{run.pk}/hosts/")), "it stands where it was pressed"
    assert "Undo" in said(browser.get(f"/documents/{document.pk}/exclude-urls/")), "and where the list is"
    fields = {one.get("name"): one.get("value") for one in form.xpath(".//input")}
    answer = browser.post(form.get("action"), fields, follow=True)
    assert answer.request["PATH_INFO"] == here and "taken back" in said(answer) and "Undo" not in said(answer).split()
    assert not ExcludeUrl.objects.exists()
    answer = browser.post(form.get("action"), {"next": "//other.example/"})
    assert answer.url.startswith(f"/documents/{document.pk}/"), "nowhere else than on this site"


def test_a_folder_is_excluded_of_a_document_that_is_crawled_there(
    signed_in: SignedIn, editor: Any, finished_run: Run
) -> None:
    browser, here = signed_in(editor), f"/crawls/{finished_run.pk}/tree/"
    first, second = finished_run.excursions.order_by("title")

    def documents(folder: str) -> list[str]:
        page = html.fromstring(browser.get(f"{here}?exclude={folder}").content)
        (form,) = page.xpath("//form[.//input[@name='note']]")
        return form.xpath(".//*[@name='doc']/@value | .//*[@name='doc']/option/@value")

    assert documents(f"{SITE}/measures/deep/") == [str(first.doc_id)]
    assert documents(f"{SITE}/indicators/") == [str(second.doc_id)]
    assert documents(f"{SITE}/") == [str(first.doc_id), str(second.doc_id)]


# -- Changes, Log -------------------------------------------------------------------------------------------------


def test_changes_of_several_documents_count_what_is_removed_and_moved(
    signed_in: SignedIn, editor: Any, finished_run: Run
) -> None:
    first, second = Excursion.objects.filter(run=finished_run).order_by("title")
    first.tallies |= {"change": {"new": 0, "changed": 0, "unchanged": 0, "moved": 2, "gone": 3}}
    first.save()
    page = html.fromstring(signed_in(editor).get(f"/crawls/{finished_run.pk}/changes/").content)
    cells = {
        name: [cell.text_content().strip() for cell in page.xpath(f"//td[@data-th='{name}']")]
        for name in ("Removed", "Moved")
    }
    assert cells == {"Removed": ["3", "–"], "Moved": ["2", "–"]}
    assert page.xpath("//td[@data-th='Removed']/a/@href") == [f"?kind=gone&doc={first.doc_id}"]
    assert second.doc_id != first.doc_id


def test_new_rows_of_the_log_are_announced_and_wait(
    signed_in: SignedIn, administrator: Any, run: Run, document: Document
) -> None:
    browser, here = signed_in(administrator), f"/crawls/{run.pk}/log/"
    fill(Maker(run, Document.objects.create(), "other"), queued=1)
    page = html.fromstring(browser.get(f"{here}?kind=start").content)
    (poll,) = page.xpath("//*[@id='log-poll']")
    htmx = {"HX-Request": "true"}
    assert browser.get(here + poll.get("hx-get"), headers=htmx).status_code == 204
    for kind in ("start", "start", "host"):
        Event.objects.create(run=run, at=timezone.now(), kind=kind, text="Something")
    answer = browser.get(here + poll.get("hx-get"), headers=htmx)
    assert "2 new rows" in said(answer) and b"log-rows" not in answer.content
    assert html.fromstring(answer.content).xpath("//a/@href") == ["?kind=start"]
    following = fragments(answer.content)["log-poll"].get("hx-get")
    assert browser.get(here + following, headers=htmx).status_code == 204, "said once"
    assert b"log-poll" not in browser.get(f"{here}?live=off").content
    assert b"log-new" not in browser.get(f"{here}?follow=1").content


def test_a_preview_has_a_place_where_trouble_is_said(signed_in: SignedIn, editor: Any, document: Document) -> None:
    row = preview_rows.ask(Snapshot(document.pk, ()), "editor", {})
    page = html.fromstring(signed_in(editor).get(f"/documents/{document.pk}/previews/{row.pk}/").content)
    (place,) = page.xpath("//*[@id='live-say'][@role='status']")
    assert not place.xpath("ancestor::*[@id='preview']"), "what is swapped does not take it away"
