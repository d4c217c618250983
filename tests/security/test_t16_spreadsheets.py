"""Threat T16: no cell of any export begins with what a spreadsheet takes for a formula. Generated from the routes."""

import csv
import io
from typing import Any

import pytest
from django.urls import reverse

from clearinghouse.audit.models import Entry
from clearinghouse.library.models import Sheet
from crawler.findings.diagnosis import diagnose_due
from crawler.models import ErrorGroup, Excursion, LedgerEntry, PageVersion, Run
from crawler.reports.views import REPORTS
from crawlpoints.models import CrawlPoint, ExcludeUrl
from tests.accounts.routes import Route, arguments, everybody, project_one, routes
from tests.accounts.test_routes import browser

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
RISKY = ("=", "+", "-", "@", "\t", "\r", "\n")
FORMULA = "=HYPERLINK(0)"
NAMES = {"run-export": ("pages.csv", "urls.csv"), "report-csv": tuple(REPORTS)}
QUERIES = {"crawl-points-test-export": "?urls=%3DHYPERLINK(0)", "report-csv": "?days=all"}


@pytest.fixture
def world() -> tuple[dict[str, Any], dict[str, Any]]:
    """Every text that ends in a cell begins with a formula."""
    own, other = project_one()
    people = everybody(own, other)
    given = arguments(people, own)
    diagnose_due()
    Sheet.objects.update(title=FORMULA)
    Excursion.objects.update(title=FORMULA)
    CrawlPoint.objects.update(url=FORMULA, root=FORMULA, note=FORMULA, login=FORMULA, append=FORMULA)
    ExcludeUrl.objects.update(pattern=FORMULA)
    LedgerEntry.objects.update(url=FORMULA, detail=FORMULA, redirect_url=FORMULA)
    PageVersion.objects.update(title=FORMULA, url=FORMULA, language=FORMULA[:8])
    ErrorGroup.objects.update(site=FORMULA, pattern=FORMULA, example=FORMULA)
    Run.objects.update(requested_by=FORMULA, note=FORMULA)
    Entry.objects.create(actor=FORMULA, action="=1", kind="document", sentence=FORMULA, document_id=own.pk,
                         after={"title": FORMULA})  # fmt: skip
    return people, given


def exports() -> list[tuple[Route, dict[str, Any]]]:
    """Every route that ends in a CSV, and what its arguments are."""
    found = [route for route in routes() if "csv" in route.pattern or "export" in route.pattern]
    return [(route, {"name": name} if name else {}) for route in found for name in NAMES.get(route.name, ("",))]


def test_t16_no_cell_of_an_export_is_a_formula(world: Any) -> None:
    people, given = world
    client = browser(people, "administrator")
    quoted, names = 0, set()
    for route, more in exports():
        known = given | more
        address = reverse(route.name, kwargs={name: known[name] for name in route.arguments})
        path = address + QUERIES.get(route.name, "")
        response = client.get(path)
        assert response.status_code == 200, path
        body = b"".join(response.streaming_content) if response.streaming else response.content
        if not response["Content-Type"].startswith("text/csv"):
            continue
        names.add(route.name)
        for line in csv.reader(io.StringIO(body.decode("utf-8-sig"))):
            for cell in line:
                assert not cell.startswith(RISKY) or _number(cell), (path, cell)
                quoted += cell.startswith("'=")
    assert {"run-export", "report-csv", "crawl-points-export", "documents-export", "exclude-urls-export"} <= names
    assert quoted > 20


def _number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
