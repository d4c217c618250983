"""Downloads hold what the person may see, row for row, and nothing that a spreadsheet would run; runs compared."""

import copy
import csv
import gc
import io
import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from django.db.models.base import ModelState
from django.test import Client
from lxml import html

from clearinghouse.database.digests import digest_of
from clearinghouse.library.models import Document
from crawler.models import LedgerEntry, Run
from tests.crawler.runs.rows import make_run
from tests.proves import proves

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]
NAMES = ["pages.csv", "urls.csv", "log.jsonl", "run.json"]


def content(answer: Any) -> str:
    data = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return str(data.decode("utf-8-sig"))


def lines(answer: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content(answer))))


def test_the_export_has_as_many_rows_as_the_list(signed_in: SignedIn, editor: Any, run: Run) -> None:
    browser = signed_in(editor)
    sums = json.loads(content(browser.get(f"/crawls/{run.pk}/export/run.json")))
    urls = lines(browser.get(f"/crawls/{run.pk}/export/urls.csv"))
    assert len(urls) == sums["found"] == 33 and len(sums["documents"]) == 2
    pages = lines(browser.get(f"/crawls/{run.pk}/export/pages.csv"))
    assert len(pages) == sums["crawled"] + sums["unchanged"]
    assert {row["title"] for row in pages} >= {"Title of start", "Title of 1.html"}
    assert pages[1]["found_on"].startswith("https://quality.example.gov/")


def test_the_filters_of_the_list_count_for_the_export(signed_in: SignedIn, editor: Any, run: Run) -> None:
    found = lines(signed_in(editor).get(f"/crawls/{run.pk}/export/urls.csv?reason=excluded"))
    assert [row["reason"] for row in found] == ["excluded", "excluded"]


def test_a_spreadsheet_is_not_tricked(signed_in: SignedIn, editor: Any, run: Run) -> None:
    row = LedgerEntry.objects.filter(excursion__run=run, reason="outside_root").order_by("pk")[0]
    LedgerEntry.objects.filter(pk=row.pk).update(detail="=cmd|'/c calc'!A0")
    found = lines(signed_in(editor).get(f"/crawls/{run.pk}/export/urls.csv?reason=outside_root"))
    assert found[0]["detail"] == "'=cmd|'/c calc'!A0"


def test_the_log_is_one_object_a_line(signed_in: SignedIn, editor: Any, run: Run) -> None:
    text = content(signed_in(editor).get(f"/crawls/{run.pk}/export/log.jsonl"))
    assert [json.loads(line)["text"] for line in text.splitlines()] == [
        "Started Measures of hospital quality", "Started Patient safety indicators", "Launched by administrator",
    ]  # fmt: skip


def test_who_may_download(signed_in: SignedIn, client: Client, document: Document, stranger: Any, reader: Any) -> None:
    run = make_run(document)
    for name in NAMES:
        path = f"/crawls/{run.pk}/export/{name}"
        assert client.get(path)["Location"].startswith("/sign-in/")
        assert signed_in(stranger).get(path).status_code == 404
        assert signed_in(reader).get(path).status_code == 200 and signed_in(reader).post(path).status_code == 405
    assert signed_in(reader).get(f"/crawls/{run.pk}/export/secrets.csv").status_code == 404


def test_two_runs_are_compared(
    signed_in: SignedIn, client: Client, editor: Any, stranger: Any, document: Document, second_document: Document
) -> None:
    first = make_run(document, second_document, state="finished", queued=0)
    second = make_run(document, state="finished", queued=0)
    path = f"/crawls/{first.pk}/compare/{second.pk}/"
    browser = signed_in(editor)
    text = " ".join(html.fromstring(browser.get(path).content).xpath("//main")[0].text_content().split())
    assert f"Run {first.pk} stored 13 pages, 4 errors; run {second.pk} stored 6 pages, 2 errors." in text
    assert f"only in run {first.pk}" in text
    page = html.fromstring(browser.get(f"{path}?doc={document.pk}").content)
    counts = [int(number.text) for number in page.xpath("//a[contains(@class,'chip')]/b")]
    assert counts == [0, 0, 6, 0]  # the rows of this test write a version of their own for each page
    gone = LedgerEntry.objects.filter(excursion__run=second, outcome="unchanged").first()
    assert gone is not None
    gone.delete()
    listed = html.fromstring(browser.get(f"{path}?doc={document.pk}&kind=first").content)
    assert len(listed.xpath("//tbody/tr[th]")) == 1
    assert client.get(path)["Location"].startswith("/sign-in/")
    assert signed_in(stranger).get(path).status_code == 404 and browser.post(path).status_code == 405
    chosen = browser.get(f"/crawls/{first.pk}/compare/?with={second.pk}")
    assert chosen["Location"] == path and browser.get(f"/crawls/{first.pk}/compare/?with=x").status_code == 404


@proves("J7")
def test_a_long_export_takes_no_more_memory_than_a_short_one(signed_in: SignedIn, editor: Any, run: Run) -> None:
    """A million rows go through a browser's hands without standing in ours (fault J7)."""
    browser = signed_in(editor)

    def weight() -> tuple[int, int]:
        """Rows, and the most that was held while they were sent."""
        answer = browser.get(f"/crawls/{run.pk}/export/urls.csv")
        gc.collect()
        tracemalloc.start()
        rows = sum(part.count(b"\n") for part in answer.streaming_content)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return rows, most

    like = LedgerEntry.objects.filter(excursion__run=run, reason="outside_root").first()
    assert like
    add_rows(like, 1_000)
    few, short = weight()
    add_rows(like, 15_000)
    many, long = weight()
    assert many == few + 15_000
    assert long < short + 5_000_000  # the rows themselves are four times as much


def add_rows(like: LedgerEntry, count: int) -> None:
    begin = LedgerEntry.objects.count()
    copies = [copy.copy(like) for _ in range(count)]
    for number, one in enumerate(copies, begin):
        one.pk, one.url, one.url_key = None, f"{like.url}?{number}", digest_of(f"{like.url}?{number}")
        one._state = ModelState()
    LedgerEntry.objects.bulk_create(copies, batch_size=1000)
