"""A crawl over real TLS of a site whose certificate nobody vouches for: who accepts it, and who does not."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from crawler.models import Run
from tests.crawler.conftest import crawl, make_document
from tests.proves import proves
from tests.sites import certificates
from tests.sites.misbehaving import Site, page, redirect

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]
RULES = page("User-agent: *\nDisallow: /a/x", kind="text/plain")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tls=certificates.make(tmp_path).server) as site:
        site.pages |= {"/robots.txt": RULES, "/a/": page("<a href=x>x</a><a href=y>y</a>")}
        site.pages |= {"/a/x": page("forbidden"), "/a/y": page("allowed"), "/b/": page("b")}
        yield site


def accepting(site: Site) -> dict[str, Any]:
    return {"url": site.url("/a/"), "accept_bad_certificate": True}


@proves("rule 18")
def test_who_accepts_it_crawls_by_the_rules_of_the_site(site: Site, ledger: Ledger) -> None:
    run = crawl(make_document(accepting(site)))
    assert ledger(run) == {"/a/": "crawled", "/a/x": "robots_disallowed", "/a/y": "crawled"}


def test_a_robots_txt_that_moved_is_followed_there_too(site: Site, ledger: Ledger) -> None:
    site.pages |= {"/robots.txt": redirect("/rules.txt"), "/rules.txt": RULES}
    assert ledger(crawl(make_document(accepting(site))))["/a/x"] == "robots_disallowed"


@proves("rule 18", "D3")
def test_who_does_not_accept_it_gets_nothing_beside_one_who_does(site: Site, ledger: Ledger) -> None:
    for points in ([accepting(site), {"url": site.url("/b/")}], [{"url": site.url("/b/")}, accepting(site)]):
        run = crawl(make_document(*points))
        assert ledger(run) == {
            "/a/": "crawled", "/a/x": "robots_disallowed", "/a/y": "crawled", "/b/": "tls_failed",
        }  # fmt: skip
    assert not any(asked.target == "/b/" for asked in site.log)


def test_who_accepts_it_and_ignores_robots_txt_needs_it_read_for_nobody(site: Site, ledger: Ledger) -> None:
    run = crawl(make_document({"url": site.url("/b/")}, accepting(site) | {"ignore_robots": True}))
    assert ledger(run) == {"/a/": "crawled", "/a/x": "crawled", "/a/y": "crawled", "/b/": "tls_failed"}
