"""Every report: works, needs sign-in, shows nobody else's documents, changes nothing, exports what it shows."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from clearinghouse.audit.models import Entry
from clearinghouse.library import services as library
from clearinghouse.library.models import Document
from crawler.findings.diagnosis import diagnose_due
from crawler.launching import schedules
from crawler.models import Diagnosis, ErrorGroup, ErrorMark, ExcludeHit, Excursion, Finding, LedgerEntry, Run, Schedule
from crawler.reports.report_base import Bar, Chart
from crawlpoints import services
from tests.crawler.runs.rows import make_run

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]
NAMES = [
    "coverage", "activity", "hosts", "errors", "broken-links", "changes", "schedules", "exclusions", "search-use",
    "audit",
]  # fmt: skip
FILTERED = {
    "coverage": "?age=week&project=Quality+measures&q=hospital&sort=-pages",
    "activity": "?days=7&state=finished&sort=-started_at",
    "hosts": "?q=quality&days=90&sort=host",
    "errors": "?state=all&reason=http_4xx&days=365&sort=-n",
    "broken-links": "?reason=http_4xx&q=missing&sort=url",
    "changes": "?days=30&show=all&sort=title",
    "schedules": "?days=90&sort=-pages",
    "exclusions": "?show=idle&sort=pattern",
    "search-use": "?show=nothing&q=heart&days=7&sort=-clicks",
    "audit": "?days=all&q=Added&sort=-actor",
}


def text(browser: Client, path: str) -> str:
    answer = browser.get(path)
    assert answer.status_code == 200, path
    return answer.content.decode()


def lines(browser: Client, path: str) -> list[list[str]]:
    answer = browser.get(path)
    assert answer.status_code == 200 and answer["Content-Type"].startswith("text/csv")
    return list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))


@pytest.mark.parametrize("who", ["editor", "reader", "manager", "administrator"])
def test_every_report_works(signed_in: SignedIn, request: Any, who: str, runs: list[Run]) -> None:
    browser = signed_in(request.getfixturevalue(who))
    assert "Which exclude URLs work?" in text(browser, "/reports/")
    for name in NAMES:
        for query in ("", FILTERED[name]):
            text(browser, f"/reports/{name}/{query}")
            lines(browser, f"/reports/{name}/export.csv{query}")
    text(browser, "/reports/hosts/?host=quality.example.gov")


def test_every_report_works_before_anything_was_crawled(signed_in: SignedIn, administrator: Any, editor: Any) -> None:
    for person in (administrator, editor):
        for name in NAMES:
            text(signed_in(person), f"/reports/{name}/")
            lines(signed_in(person), f"/reports/{name}/export.csv")


def test_every_report_needs_sign_in(client: Client, runs: list[Run]) -> None:
    for path in ["/reports/", "/reports/changes/feed.atom", *(f"/reports/{name}/" for name in NAMES)]:
        assert client.get(path).status_code == 302, path
        assert client.get(f"{path}export.csv").status_code == 302, path


def test_nobody_sees_the_documents_of_others(
    signed_in: SignedIn, stranger: Any, editor: Any, runs: list[Run], document: Document, other_document: Document
) -> None:
    services.add_exclude_url(document, "https://quality.example.gov/measures/secret*")
    for person, hidden in ((stranger, "Measures of hospital quality"), (editor, "Asthma guideline")):
        browser = signed_in(person)
        for name in NAMES:
            assert hidden not in text(browser, f"/reports/{name}/"), name
            assert hidden not in str(lines(browser, f"/reports/{name}/export.csv")), name
        assert hidden not in text(browser, "/reports/hosts/?host=quality.example.gov")
        assert hidden not in text(browser, "/reports/changes/feed.atom")
    entry = LedgerEntry.objects.filter(doc_id=document.pk, reason="http_4xx").last()
    assert entry is not None
    assert "Pages that link there" not in text(signed_in(stranger), f"/reports/broken-links/?show={entry.pk}")
    assert "secret" not in text(signed_in(stranger), "/reports/exclusions/")


def test_no_report_exists_without_a_role(signed_in: SignedIn, django_user_model: Any) -> None:
    browser = signed_in(django_user_model.objects.create_user("newcomer"))
    for path in ("/reports/", "/reports/coverage/", "/reports/coverage/export.csv", "/reports/nonsense/"):
        assert browser.get(path).status_code == 404


def test_looking_changes_nothing(signed_in: SignedIn, administrator: Any, runs: list[Run]) -> None:
    def everything() -> list[Any]:
        models = (Run, Excursion, Diagnosis, Finding, ErrorGroup, ErrorMark, Entry)
        return [list(model.objects.order_by("pk").values()) for model in models]

    before = everything()
    for name in NAMES:
        text(signed_in(administrator), f"/reports/{name}/")
    assert signed_in(administrator).get("/reports/errors/mark/00/").status_code == 405
    assert everything() == before


def test_nonsense_in_the_address_is_ignored(signed_in: SignedIn, administrator: Any, runs: list[Run]) -> None:
    browser = signed_in(administrator)
    for name in NAMES:
        text(browser, f"/reports/{name}/?days=x&state=%00&project=%F0%9F%98%80&sort=--&page=999&age=9&show=x&q=%00")
    assert browser.get("/reports/nonsense/").status_code == 404
    for key in ("zz", "00", "ff" * 32):
        assert browser.post(f"/reports/errors/mark/{key}/", {"state": "known"}).status_code == 404


def test_the_csv_has_the_rows_of_the_report(signed_in: SignedIn, manager: Any, runs: list[Run]) -> None:
    browser = signed_in(manager)
    for name in ("coverage", "activity", "hosts", "errors", "changes", "audit"):
        count = browser.get(f"/reports/{name}/").context["page"].paginator.count
        assert len(lines(browser, f"/reports/{name}/export.csv")) == count + 1, name


def test_a_spreadsheet_gets_no_formula(signed_in: SignedIn, administrator: Any, project: Any) -> None:
    library.add_document("=HYPERLINK(1)", project=project.name)
    rows = lines(signed_in(administrator), "/reports/coverage/export.csv")
    assert "'=HYPERLINK(1)" in rows[1]


def test_coverage_counts_what_was_never_crawled(
    signed_in: SignedIn, editor: Any, runs: list[Run], project: Any
) -> None:
    new = library.add_document("Brand new", project=project.name)
    library.assign(new, editor)
    page = text(signed_in(editor), "/reports/coverage/?age=never")
    assert "Of 3 documents, 1 was never crawled" in page and "Brand new" in page
    assert "Measures of hospital quality" not in page.split("<tbody")[-1]


def test_a_number_of_the_hosts_report_opens_as_many_rows(signed_in: SignedIn, editor: Any, runs: list[Run]) -> None:
    browser = signed_in(editor)
    page = browser.get("/reports/hosts/?host=quality.example.gov")
    checked = 0
    for cells, _ in page.context["rows"]:
        for column, cell in cells:
            if cell.href and column.key.endswith("_"):
                opened = browser.get(cell.href).context["page"].paginator.count
                assert opened == cell.text, (column.label, cell.href)
                checked += 1
    assert checked > 8


def test_what_a_site_counts_for_several_reasons_is_listed_for_all_of_them(
    signed_in: SignedIn, editor: Any, document: Document
) -> None:
    run = make_run(document, state="stopped", queued=0)
    excursion = run.excursions.get()
    root = "https://quality.example.gov/"
    reasons = ("run_stopped", "page_limit", "run_limit", "redirect_outside_root", "redirect_excluded")
    for reason in reasons:
        LedgerEntry.objects.create(
            excursion=excursion, doc_id=document.pk, url_key=reason.encode().ljust(32), url=f"{root}{reason}.html",
            outcome="skipped", reason=reason, at=run.created_at,
        )  # fmt: skip
    diagnose_due()
    browser = signed_in(editor)
    (cells, _), = browser.get("/reports/hosts/?host=quality.example.gov").context["rows"]  # fmt: skip
    counts = {column.key: cell for column, cell in cells}
    assert [counts[name].text for name in ("waiting_", "outside_", "excluded_")] == [3, 2, 2]
    for name in ("waiting_", "outside_", "excluded_"):
        assert browser.get(counts[name].href).context["page"].paginator.count == counts[name].text, name


def test_the_count_of_an_exclude_url_opens_what_that_one_stopped(
    signed_in: SignedIn, editor: Any, document: Document, runs: list[Run]
) -> None:
    excursion = runs[1].excursions.get(doc_id=document.pk)
    pattern = "https://quality.example.gov/drafts/*"
    LedgerEntry.objects.create(
        excursion=excursion, doc_id=document.pk, url_key=b"draft".ljust(32), at=runs[1].created_at, reason="excluded",
        url="https://quality.example.gov/drafts/1.html", outcome="skipped", detail=pattern,
    )  # fmt: skip
    ExcludeHit.objects.create(excursion=excursion, doc_id=document.pk, run_id=runs[1].pk, pattern=pattern, count=1)
    services.add_exclude_url(document, pattern)
    browser = signed_in(editor)
    (cells, _), = browser.get("/reports/exclusions/").context["rows"]  # fmt: skip
    last = {column.key: cell for column, cell in cells}["last"]
    assert last.text == 1 and browser.get(last.href).context["page"].paginator.count == 1


def test_every_number_of_the_errors_report_opens_what_it_counts(
    signed_in: SignedIn, administrator: Any, editor: Any, runs: list[Run]
) -> None:
    browser = signed_in(administrator)
    for cells, _ in browser.get("/reports/errors/").context["rows"]:
        named = {column.key: cell for column, cell in cells}
        behind = browser.get(f"/reports/errors/{named['n'].href}").context["rows"]
        lines = [{column.key: cell for column, cell in one} for one, _ in behind]
        assert sum(line["times"].text for line in lines) == named["n"].text
        assert len({line["run"].text for line in lines}) == named["runs"].text
        assert len({line["document"].href for line in lines}) == named["docs"].text
        for line in lines:
            assert browser.get(line["times"].href).context["page"].paginator.count == line["times"].text
        foreign = any(line["document"].text == "Asthma guideline" for line in lines)
        seen_by_editor = text(signed_in(editor), f"/reports/errors/{named['n'].href}")
        assert ("No crawl of this period had this error" in seen_by_editor) == foreign
    assert "There is nothing to report" not in text(browser, "/reports/errors/?group=zz")


def test_errors_are_drawn_by_week(signed_in: SignedIn, editor: Any, runs: list[Run]) -> None:
    page = text(signed_in(editor), "/reports/errors/?days=7")
    assert "Errors by week" in page and "week of" in page


def test_the_numbers_of_a_planned_crawl_open_its_documents(
    signed_in: SignedIn, editor: Any, stranger: Any, document: Document, runs: list[Run]
) -> None:
    services.add_crawl_point(document, {"url": "https://ex.gov/a/", "root": "https://ex.gov/a/"})
    now = timezone.now()
    plan = schedules.add(
        Schedule(what="chosen", doc_ids=[document.pk], every="day", at="02:00", created_by="x", created_at=now), now
    )
    browser = signed_in(editor)
    (cells, _), = browser.get("/reports/schedules/").context["rows"]  # fmt: skip
    named = {column.key: cell for column, cell in cells}
    assert named["documents"].href == named["pages"].href == f"?schedule={plan.pk}"
    (behind, _), = browser.get(f"/reports/schedules/?schedule={plan.pk}").context["rows"]  # fmt: skip
    assert behind[0][1].text == "Measures of hospital quality" and behind[1][1].text == named["pages"].text
    assert browser.get(behind[1][1].href).context["page"].paginator.count == named["pages"].text
    assert "Measures of hospital" not in text(signed_in(stranger), f"/reports/schedules/?schedule={plan.pk}")
    assert 'href="/crawls/?tab=calendar"' in text(browser, "/reports/schedules/")


@pytest.mark.parametrize("name", ["coverage", "hosts", "activity", "errors", "changes", "audit"])
def test_every_chart_is_a_table_too_and_tells_its_kinds_by_more_than_colour(
    signed_in: SignedIn, administrator: Any, runs: list[Run], name: str
) -> None:
    services.add_exclude_url(Document.objects.first(), "https://ex.gov/x/*")  # something for the audit
    page = text(signed_in(administrator), f"/reports/{name}/?days=all")
    chart = page.split('id="chart-h"')[1].split("</section>")[0]
    assert "Show as table" in chart and "<td" in chart
    assert "<title>" in chart or '<p class="small muted">' in chart
    assert chart.count('fill="url(#on-') == chart.count('<rect class="k-') > 0


def test_what_is_planned_stands_in_the_schedules_report(
    signed_in: SignedIn, editor: Any, stranger: Any, document: Document, runs: list[Run]
) -> None:
    services.add_crawl_point(document, {"url": "https://ex.gov/a/", "root": "https://ex.gov/a/"})
    now = timezone.now()
    plan = Schedule(what="chosen", doc_ids=[document.pk], every="day", at="02:00", created_by="boss", created_at=now)
    schedules.add(plan, now)
    page = text(signed_in(editor), "/reports/schedules/?days=7")
    assert "7 starts are planned in the next 7 days" in page and "Planned pages by day" in page
    assert "boss" not in text(signed_in(stranger), "/reports/schedules/")


def test_an_error_is_new_then_known_then_solved_and_comes_back(
    signed_in: SignedIn, editor: Any, document: Document, runs: list[Run]
) -> None:
    browser = signed_in(editor)

    def states() -> set[str]:
        rows = browser.get("/reports/errors/?state=all&reason=timeout").context["rows"]
        return {raw["state"] for _, raw in rows}

    assert states() == {"new"}
    for state in ("known", "solved"):
        for row in browser.get("/reports/errors/?state=all&reason=timeout").context["rows"]:
            browser.post(f"/reports/errors/mark/{row[1]['name']}/", {"state": state})
        assert states() == {state}
    make_run(document, state="finished", queued=0)
    diagnose_due()
    assert "new" in states()


def test_a_reader_marks_nothing_and_nobody_marks_for_others(
    signed_in: SignedIn, reader: Any, editor: Any, document: Document, other_document: Document, runs: list[Run]
) -> None:
    key = ErrorGroup.objects.filter(doc_id=document.pk, reason="timeout").first()
    assert key is not None
    path = f"/reports/errors/mark/{key.key.hex()}/"
    assert signed_in(reader).post(path, {"state": "known"}).status_code == 403
    assert "Solved</button>" not in text(signed_in(reader), "/reports/errors/")
    signed_in(editor).post(path, {"state": "known"})
    assert set(ErrorMark.objects.values_list("doc_id", flat=True)) == {document.pk}


def test_broken_links_name_the_pages_that_have_them(signed_in: SignedIn, editor: Any, runs: list[Run]) -> None:
    entry = LedgerEntry.objects.filter(excursion__run=runs[1], reason="http_4xx").first()
    assert entry is not None
    page = text(signed_in(editor), f"/reports/broken-links/?show={entry.pk}")
    assert "Pages that link there" in page and "to missing.html" in page
    page = signed_in(editor).get("/reports/broken-links/").content.decode()
    assert f'href="/crawls/{runs[1].pk}/pages/{entry.pk}/"' in page  # why
    rows = lines(signed_in(editor), "/reports/broken-links/export.csv")
    assert any(row[2].endswith("missing.html") and row[6] == "to missing.html" for row in rows)


def test_the_feed_lists_the_crawls_with_changes(signed_in: SignedIn, editor: Any, runs: list[Run]) -> None:
    answer = signed_in(editor).get("/reports/changes/feed.atom")
    assert answer["Content-Type"].startswith("application/atom+xml")
    feed = answer.content.decode()
    assert feed.count("<entry>") == 3 and "3 added, 2 changed" in feed


def test_the_audit_shows_before_and_after_and_no_password(signed_in: SignedIn, editor: Any, document: Document) -> None:
    values = {
        "url": "https://ex.gov/a/",
        "root": "https://ex.gov/a/",
        "auth_type": 1,
        "login": "u",
        "password": "swordfish",
    }
    point = services.add_crawl_point(document, values)[0]
    services.update_crawl_point(point, {"depth": 4})
    page = text(signed_in(editor), "/reports/audit/")
    assert "depth limit: 0 → 4" in page and "swordfish" not in page
    assert "swordfish" not in str(lines(signed_in(editor), "/reports/audit/export.csv"))


def test_more_documents_ask_no_more_queries(
    signed_in: SignedIn, administrator: Any, runs: list[Run], project: Any, document: Document
) -> None:
    browser = signed_in(administrator)

    def queries(name: str) -> int:
        cache.clear()  # of the counts in the navigation
        one, other = (CaptureQueriesContext(connections[alias]) for alias in ("webcrawl", "default"))
        with one as crawl, other as own:
            text(browser, f"/reports/{name}/")
        return len(crawl) + len(own)

    services.add_exclude_url(document, "https://ex.gov/first/*")
    before = {name: queries(name) for name in NAMES}
    before = {name: queries(name) for name in NAMES}
    more = [library.add_document(f"Document {number}", project=project.name) for number in range(6)]
    for one in more:
        services.add_exclude_url(one, f"https://ex.gov/{one.pk}/*")
    make_run(document, *more, state="finished", queued=0)
    diagnose_due()
    for name in NAMES:
        assert queries(name) <= before[name] <= 26, name


def test_the_columns_of_a_chart_are_as_high_as_their_numbers() -> None:
    chart = Chart("x", "x", [Bar("a", (("k-ok", 5), ("k-err", 5))), Bar("b", (("k-ok", 0), ("k-err", 20)))])
    drawn = list(chart.drawn())
    assert [(one["css"], one["height"]) for one in drawn] == [("k-ok", "24.50"), ("k-err", "24.50"), ("k-err", "98.00")]
    assert (drawn[0]["x"], drawn[2]["x"]) == ("1.429", "15.714")
    assert {one["width"] for one in drawn} == {"11.429"}  # one bar is not as wide as the page


def test_the_filter_of_a_report_is_kept_under_a_name_of_ones_own(
    signed_in: SignedIn, editor: Any, reader: Any, runs: list[Run]
) -> None:
    browser = signed_in(editor)
    sent = {"name": " My  week ", "query": "days=7&state=finished&page=3"}
    answer = browser.post("/reports/activity/views/save/", sent)
    assert answer.url == "/reports/activity/?days=7&state=finished"
    page = text(browser, answer.url)
    assert 'href="?days=7&amp;state=finished" aria-current="page">My week</a>' in page
    assert "My week" not in text(browser, "/reports/coverage/")
    assert "My week" not in text(browser, "/documents/")
    assert "My week" not in text(signed_in(reader), "/reports/activity/")
    view = page.split('name="view" value="')[1].split('"')[0]
    signed_in(reader).post("/reports/activity/views/delete/", {"view": view})
    assert "My week" in text(browser, "/reports/activity/")
    assert browser.post("/reports/activity/views/save/", {"name": " "}, follow=True).content.count(b"Enter a name") >= 1
    browser.post("/reports/activity/views/delete/", {"view": view})
    assert 'aria-label="Saved views"' not in text(browser, "/reports/activity/")
    assert browser.post("/reports/nonsense/views/save/", sent).status_code == 404
