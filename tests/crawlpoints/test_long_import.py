"""A long CSV: read and imported by a worker in short steps, shown all at once, taken back as one, whoever is killed."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from clearinghouse.audit.models import Entry
from clearinghouse.database import short_transactions
from clearinghouse.library import services as library
from clearinghouse.library.models import Document
from clearinghouse.operations import work_queues
from crawlpoints import bulk_changes, jobs, point_checks, queries, services
from crawlpoints.imports import import_steps, short_import
from crawlpoints.imports.point_csv import AT_ONCE, UnreadablePointCsv
from crawlpoints.models import CrawlPoint, CrawlPointLink, Import, ImportLine, ImportPart
from crawlpoints.panel import views as panel
from crawlpoints.point_checks import Invalid

from .test_panel import text_of

pytestmark = pytest.mark.django_db(databases="__all__")
State = Import.State


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short_transactions, "PAUSE", 0.0)


@pytest.fixture
def browser(editor: Any, signed_in: Any) -> Any:
    return signed_in(editor)


def sheet(lines: int, *more: str) -> str:
    rows = [f"https://new.example.org/part-{at // 100}/page-{at}.html,,2,line {at}" for at in range(lines)]
    return "\n".join(["url,root_string,depth_limit,note", *rows, *more]) + "\n"


def worked(row: Import) -> Import:
    """What the worker and the tick do until there is nothing to do."""
    for _ in range(200):
        row.refresh_from_db()
        if row.state not in import_steps.WORKING:
            return row
        jobs.import_points(row.pk)
    raise AssertionError(f"it does not end: {row}")


def read(document: Document, text: str, **options: Any) -> Import:
    return worked(import_steps.ask(document, [text], "editor", **options))


def state(document: Document) -> list[dict[str, Any]]:
    return [services.facts(point) for point in queries.points_of(document)]


def test_nothing_is_seen_before_the_decision_then_all_of_it_and_one_undo_takes_all_back(
    document: Document, point: CrawlPoint, protected: CrawlPoint
) -> None:
    before = state(document)
    heading, rest = sheet(AT_ONCE * 2).split("\n", 1)
    text = f"{heading}\n{rest}{point.url},{point.root},9,why\nnonsense,,2,\nhttps://new.example.org/part-0/page-0.html,,2,\n"
    row = read(document, text)
    assert row.state == State.READ and state(document) == before and not Entry.objects.filter(action="import").exists()
    assert row.counts == {"add": 600, "change": 1, "unchanged": 0, "error": 2}
    assert [one["number"] for one in row.told["errors"]] == [603, 604]
    assert list(queries.deleted_points_of(document)) == []
    import_steps.confirm(row)
    worked(row)
    assert row.state == State.DONE and len(state(document)) == 602
    changed = CrawlPoint.objects.get(pk=point.pk)
    assert (changed.depth, changed.note) == (9, "why")
    added = Entry.objects.filter(kind="crawlpoint", action="add", sentence__contains="new.example.org")
    assert added.count() == 600 and set(added.values_list("actor", flat=True)) == {"editor"}
    assert added.values_list("thing_id").distinct().count() == 600
    entry = Entry.objects.get(kind="crawlpoint", action="change", thing_id=point.pk)
    assert (entry.before["depth"], entry.after["depth"]) == (3, 9)
    assert Entry.objects.get(action="import").sentence == (
        "Imported crawl points from CSV: 600 added, 1 changed, 2 lines left out"
    )
    import_steps.take_back(row)
    worked(row)
    assert row.state == State.TAKEN_BACK and state(document) == before
    assert (row.told["back"], row.told["left"]) == (601, 0)
    assert Entry.objects.filter(kind="crawlpoint", action="delete").count() == 600
    assert queries.deleted_points_of(document).count() == 600, "each can be restored"
    assert services.restore_crawl_point(queries.deleted_points_of(document)[0]).key


def test_an_undo_leaves_what_somebody_changed_since(document: Document) -> None:
    row = read(document, sheet(AT_ONCE + 5), at_once=True)
    touched = CrawlPoint.objects.get(url__endswith="page-7.html")
    services.update_crawl_point(touched, {"depth": 5})
    gone = CrawlPoint.objects.get(url__endswith="page-8.html")
    services.delete_crawl_point(gone)
    import_steps.take_back(row)
    worked(row)
    assert (row.told["back"], row.told["left"]) == (AT_ONCE + 3, 2)
    assert [point.pk for point in queries.points_of(document)] == [touched.pk]


def test_what_a_colleague_changed_meanwhile_is_read_once_more_and_shown_again(
    document: Document, point: CrawlPoint
) -> None:
    row = read(document, sheet(AT_ONCE, f"{point.url},{point.root},9,"))
    services.update_crawl_point(CrawlPoint.objects.get(pk=point.pk), {"depth": 5})
    import_steps.confirm(row)
    worked(row)
    assert row.state == State.READ and row.told["again"] and len(state(document)) == 1, "nothing was imported"
    assert row.told["lines"][-1]["changes"] or row.counts["change"] == 1
    import_steps.confirm(row)
    worked(row)
    assert row.state == State.DONE and CrawlPoint.objects.get(pk=point.pk).depth == 9


def test_a_cancelled_import_leaves_no_trace(document: Document, point: CrawlPoint) -> None:
    before = CrawlPoint.everything.count(), CrawlPointLink.everything.count(), Entry.objects.count()
    row = read(document, sheet(AT_ONCE * 2))
    with pytest.raises(Invalid, match="An import that has not ended adds this crawl point"):
        services.add_crawl_point(
            document, {"url": "https://new.example.org/part-0/page-3.html", "root": "https://new.example.org/part-0/"}
        )
    import_steps.cancel(row)
    worked(row)
    assert row.state == State.CANCELLED
    assert (CrawlPoint.everything.count(), CrawlPointLink.everything.count(), Entry.objects.count()) == before
    assert not ImportLine.objects.exists() and not ImportPart.objects.exists()


def test_a_slice_that_is_over_before_its_place_in_the_file_is_found_reads_on_all_the_same(
    document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = import_steps.ask(document, [sheet(AT_ONCE)], "editor")
    monkeypatch.setattr(import_steps, "SLICE_SECONDS", 0.001)
    real = import_steps.Judge
    monkeypatch.setattr(import_steps, "Judge", lambda *given: (time.sleep(0.01), real(*given))[1])
    assert worked(row).state == State.READ and row.counts["add"] == AT_ONCE


def test_a_crawl_point_that_is_being_imported_is_neither_copied_nor_launched(
    document: Document, point: CrawlPoint, browser: Any, administrator: Any, signed_in: Any
) -> None:
    target = library.add_document("Second")
    read(target, sheet(AT_ONCE, f"{point.url},{point.root},2,"))
    changed = bulk_changes.copy([point], target)
    assert changed.refused == [f"Second already has {point.url}"] and state(target) == []
    hidden = CrawlPoint.everything.get(url__endswith="page-7.html")
    page = text_of(signed_in(administrator).get("/crawls/launch/", {"crawl_point": hidden.pk}))
    assert "page-7.html" not in page


def test_a_changed_address_is_taken_back_with_its_key(document: Document, point: CrawlPoint) -> None:
    before = CrawlPoint.objects.get(pk=point.pk)
    lines = [f",https://new.example.org/{at}" for at in range(AT_ONCE)]
    text = "\n".join(["crawl_point_id,url", *lines, f"{point.pk},{point.url}moved/"])
    row = read(document, text, at_once=True)
    after = CrawlPoint.objects.get(pk=point.pk)
    assert after.url == f"{point.url}moved/" and after.key == services.point_key(document.pk, after.url, after.root)
    import_steps.take_back(row)
    worked(row)
    again = CrawlPoint.objects.get(pk=point.pk)
    assert (again.url, again.key, again.version) == (before.url, before.key, (before.version or 0) + 2)


def test_each_step_counts_once_however_many_workers_come(document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers with the same row: the slower one finds it moved, and its step was not done."""
    row = import_steps.ask(document, [sheet(AT_ONCE * 2)], "editor")
    real, others = import_steps._Staged, []

    def overtaken(mine: Import, planned: Any) -> Any:
        if len(others) < 3:
            others.append(mine.position)
            monkeypatch.setattr(import_steps, "_Staged", real)
            jobs.import_points(row.pk)
            monkeypatch.setattr(import_steps, "_Staged", overtaken)
        return real(mine, planned)

    monkeypatch.setattr(import_steps, "_Staged", overtaken)
    assert worked(row).counts["add"] == AT_ONCE * 2
    import_steps.confirm(row)
    assert worked(row).state == State.DONE and len(state(document)) == AT_ONCE * 2


def test_a_long_import_costs_a_line_what_a_short_one_does(document: Document, point: CrawlPoint) -> None:
    """250, 500, 1,000 and 2,000 lines took 1.8, 2.8, 8.2 and 27.8 s."""

    def cost(lines: int, start: int) -> float:
        began = time.process_time()
        row = read(document, sheet(lines).replace("new.example", f"new{start}.example"), at_once=True)
        assert row.state == State.DONE and row.counts["add"] == lines
        return (time.process_time() - began) / lines

    cost(500, 0)
    small, large = min(cost(500, 1), cost(500, 2)), cost(4_000, 3)
    assert large < 2 * small, f"{1000 * small:.2f} ms a line of 500, {1000 * large:.2f} of 4,000"


@pytest.mark.django_db(databases="__all__", transaction=True)
@pytest.mark.parametrize("kind", ["points", "excludes"])
def test_while_the_lines_of_a_short_import_are_judged_nobody_waits(
    document: Document, point: CrawlPoint, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []
    check = point_checks.check_point if kind == "points" else point_checks.check_exclude

    def watched(*given: Any, **named: Any) -> Any:
        seen.append(connection.in_atomic_block)
        return check(*given, **named)

    monkeypatch.setattr(point_checks, check.__name__, watched)
    if kind == "points":
        short_import.import_points(document, sheet(20))
    else:
        short_import.import_excludes(document, "\n".join(f"https://x.example.org/{at}*" for at in range(20)))
    assert seen == [False] * 20


@pytest.mark.parametrize("kind", ["points", "excludes"])
def test_a_short_import_asks_no_more_questions_for_more_lines(document: Document, point: CrawlPoint, kind: str) -> None:
    def questions(start: int, lines: int) -> int:
        text = sheet(lines) if kind == "points" else "\n".join(f"https://x.example.org/{at}*" for at in range(lines))
        do = short_import.import_points if kind == "points" else short_import.import_excludes
        with CaptureQueriesContext(
            connection,
        ) as asked:
            plan, _ = do(document, text.replace(".example", f"{start}.example"))
        assert plan.effective == lines
        return len(asked)

    questions(0, 10)
    assert questions(1, 280) <= questions(2, 20) + 25, "a statement takes some dozens of rows, no more"


def test_two_thousand_exclude_urls_beside_many_crawl_points_take_a_second(document: Document) -> None:
    read(document, sheet(2_000), at_once=True)
    text = "\n".join(f"https://new.example.org/part-{at % 30}/old-{at}*" for at in range(2_000))
    began = time.process_time()
    plan, _ = short_import.import_excludes(document, text)
    assert plan.effective == 2_000 and time.process_time() - began < 2
    with pytest.raises(UnreadablePointCsv, match="At most 2,000 lines"):
        short_import.plan_excludes(document, text + "\nhttps://new.example.org/one-more")


def test_the_screen_follows_it_and_asks_for_the_decision(browser: Any, document: Document, point: CrawlPoint) -> None:
    address = reverse("crawl-points-import", args=[document.pk])
    upload = SimpleUploadedFile("points.csv", sheet(AT_ONCE + 40, "nonsense,,2,").encode())
    answer = browser.post(address, {"file": upload, "do": "check"})
    row = Import.objects.get()
    assert answer.status_code == 302 and answer["Location"] == f"{address}{row.pk}/"
    page = text_of(browser.get(answer["Location"]))
    assert "Reading the lines" in page and "341 lines" in page and "Nothing is changed yet." in page
    live = f"{answer['Location']}live/"
    mark = browser.get(answer["Location"]).context["mark"]
    assert browser.get(live, {"since": mark}).status_code == 204
    worked(row)
    page = text_of(browser.get(live, {"since": mark}))
    assert "Import 340, skip 1" in page and "URL must start with http:// or https://" in page
    assert browser.get(address)["Location"] == answer["Location"], "one at a time for a document"
    order = f"{answer['Location']}order/"
    browser.post(order, {"do": "import"})
    browser.post(order, {"do": "import"})
    worked(row)
    page = text_of(browser.get(answer["Location"]))
    assert "Imported 340 crawl points: 340 added, 0 changed. 1 line skipped." in page and "Undo the import" in page
    browser.post(order, {"do": "undo"})
    worked(row)
    assert "340 crawl points as before." in text_of(browser.get(answer["Location"]))
    assert len(state(document)) == 1
    history = text_of(browser.get(reverse("document-history", args=[document.pk]), {"kind": "document"}))
    assert "Took back an import from CSV" in history


def test_only_who_may_change_the_document_sees_or_decides(
    document: Document, reader: Any, stranger: Any, signed_in: Any, browser: Any, other_document: Document
) -> None:
    row = read(document, sheet(AT_ONCE + 1))
    page = reverse("crawl-points-import-job", args=[document.pk, row.pk])
    for person, status in ((reader, 403), (stranger, 404)):
        other = signed_in(person)
        assert other.get(page).status_code == other.get(f"{page}live/").status_code == status
        assert other.post(f"{page}order/", {"do": "import"}).status_code == status
    assert browser.get(f"{page}order/").status_code == 405
    row.refresh_from_db()
    assert row.state == State.READ


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("depth_limit\n" + "3\n" * 400, "The first line must name the columns, one of them url"),
        ("url\n" + "https://a.example.org/\n" * 100_001, "At most 100,000 lines can be imported at once"),
        ("url\n" + "https://a.example.org/\n" * 400 + '"open', "cannot be read as CSV"),
    ],
    ids=["no heading", "too many", "no CSV"],
)  # fmt: skip
def test_what_is_no_list_is_said_at_once_and_leaves_nothing(
    browser: Any, document: Document, text: str, sentence: str
) -> None:
    upload = SimpleUploadedFile("points.csv", text.encode())
    answer = browser.post(reverse("crawl-points-import", args=[document.pk]), {"file": upload})
    assert answer.status_code == 422 and sentence in text_of(answer)
    assert not Import.objects.exists() and not ImportPart.objects.exists()


def test_a_file_that_is_too_large_is_refused_in_words(browser: Any, document: Document) -> None:
    upload = SimpleUploadedFile("points.csv", b"url\n" + b"https://a.example.org/\n" * 880_000)
    answer = browser.post(reverse("crawl-points-import", args=[document.pk]), {"file": upload})
    assert answer.status_code == 422 and "The file is larger than 20 MB" in text_of(answer)


def test_the_tick_wakes_a_worker_for_what_was_lost_and_lets_nothing_wait_for_ever(
    document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[int] = []
    monkeypatch.setattr(work_queues, "_enqueue", lambda job, ids: woken.extend(ids))
    row = import_steps.ask(document, [sheet(AT_ONCE + 1)], "editor")
    woken.clear()
    now = timezone.now()
    import_steps.look_after(now)
    assert woken == []
    for moved in (now - timedelta(minutes=1), now + timedelta(hours=1)):  # killed; by a clock that was wrong
        Import.objects.update(moved_at=moved)
        import_steps.look_after(now)
    assert woken == [row.pk, row.pk]
    worked(row)
    import_steps.look_after(now + timedelta(hours=23))
    assert worked(row).state == State.READ
    import_steps.look_after(now + timedelta(hours=25))
    assert worked(row).state == State.CANCELLED and not CrawlPoint.everything.exists()
    done = read(document, sheet(AT_ONCE + 1), at_once=True)
    import_steps.look_after(now + timedelta(days=6))
    assert done.rows.exists()
    import_steps.look_after(now + timedelta(days=8))
    assert not done.rows.exists()


def test_a_document_that_was_deleted_meanwhile_gets_nothing(document: Document) -> None:
    row = read(document, sheet(AT_ONCE + 1))
    document.delete()
    import_steps.confirm(row)
    assert worked(row).state == State.CANCELLED and not CrawlPoint.everything.exists()


def test_a_document_of_very_many_crawl_points_is_shown_page_by_page(
    browser: Any, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panel, "PER_PAGE", 100)
    row = read(document, sheet(AT_ONCE + 20), at_once=True)
    address = reverse("crawl-points", args=[document.pk])
    first, last = (browser.get(address, {"sort": "-url", "page": page}).content.decode() for page in (1, 4))
    assert 'Crawl points for this document <span class="count">320</span>' in first
    assert "1–100 of" in first and "301–320 of" in last
    assert first.count('name="point"') == 100 and last.count('name="point"') == 20
    assert "page-319.html" in first and "page-0.html" in last
    import_steps.take_back(row)
    worked(row)
    page = browser.get(address, {"show": "deleted"}).content.decode()
    assert page.count("page-") >= 100 and "320 deleted" in browser.get(address).content.decode()


def test_a_limit_set_for_many_asks_each_the_same_however_many_there_are(document: Document) -> None:
    """Each read all the others: two thousand took minutes."""

    def cost(points: int) -> float:
        found = list(queries.points_of(document)[:50])
        with CaptureQueriesContext(connection) as asked:
            bulk_changes.set_values(found, {"depth": points % 900})
        assert not [one for one in asked if "doc_field_crawl_point" in one["sql"] and " IN (SELECT" in one["sql"]]
        return len(asked)

    read(document, sheet(AT_ONCE + 10), at_once=True)
    few = cost(310)
    read(document, sheet(AT_ONCE * 5).replace("new.ex", "other.ex"), at_once=True)
    assert cost(1810) == few
