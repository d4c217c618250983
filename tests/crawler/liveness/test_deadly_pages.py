"""Pages that kill or hang whoever reads them are named after a few tries; every other page is stored (fault A18)."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from crawler.engine import child_processes
from crawler.ledger.ledger_check import faults
from crawler.models import PageVersion, Run
from tests.crawler.conftest import crawl, make_document
from tests.proves import proves
from tests.sites.graph import Page, html, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]
OTHERS = 12


@pytest.fixture
def deadly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Crawls of this test have a parser process in which some pages are deadly; the file says how often it began."""
    begun, script = tmp_path / "begun", tmp_path / "python"
    begun.touch()
    start = f'exec {sys.executable} -m tests.sites.deadly_parser "$3"'
    script.write_text(f"#!/bin/sh\necho x >> {begun}\n{start}\n")
    script.chmod(0o755)
    monkeypatch.setattr(child_processes, "sys", SimpleNamespace(executable=str(script)))
    monkeypatch.setattr(child_processes, "PROCESSES", 1)
    return begun


def site_with(text: str) -> dict[str, Page]:
    links = [f"/{n}" for n in range(OTHERS)]
    bad = Page(body=html("Bad", [], text))
    return {"/": Page([*links[:6], "/bad", *links[6:]]), "/bad": bad} | {link: Page() for link in links}


@proves("rule 9", "A18")
@pytest.mark.parametrize("text", ["kills its reader", "breaks its reader", "takes all memory"])
def test_a_page_that_kills_its_reader_is_quarantined_after_three_deaths(
    deadly: Path, ledger: Ledger, text: str
) -> None:
    with serve(site_with(text)) as site:
        run = crawl(make_document({"url": site.url("/")}))
        assert all(count == 1 for count in site.requests.values()), "read again, not fetched again"
    verdicts = ledger(run)
    assert verdicts.pop("/bad") == "quarantined"
    assert set(verdicts.values()) == {"crawled"} and len(verdicts) == OTHERS + 1
    assert len(deadly.read_text().split()) == 1 + 3
    assert not PageVersion.objects.filter(url__endswith="/bad").exists()
    assert run.state == "finished" and faults(run) == []


@proves("rule 9", "E2")
def test_a_page_that_never_ends_to_be_read_is_named_and_holds_nobody_up(
    deadly: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_processes, "SECONDS", 1.0)
    begun = time.monotonic()
    with serve(site_with("never ends")) as site:
        run = crawl(make_document({"url": site.url("/")}))
    verdicts = ledger(run)
    assert verdicts.pop("/bad") == "parse_timeout"
    assert set(verdicts.values()) == {"crawled"} and len(verdicts) == OTHERS + 1
    assert time.monotonic() - begun < 3 * child_processes.ASLEEP
    assert run.state == "finished" and faults(run) == []
