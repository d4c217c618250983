"""Redirects that lead nowhere, or somewhere odd: each has a reason, and the crawl goes on."""

from collections.abc import Callable

import pytest

from crawler.ledger.ledger_check import faults
from crawler.models import Run
from tests.crawler.conftest import crawl, make_document
from tests.proves import proves
from tests.sites.misbehaving import Site, page, redirect

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]


@proves("rule 5", "D16", "D19", "D21")
@pytest.mark.parametrize(
    ("location", "verdict"),
    [
        ("http://[::bad/", "bad_address"),
        ("", "bad_response"),
        ("file:///etc/passwd", "scheme_not_allowed"),
        ("javascript:alert(1)", "scheme_not_allowed"),
        ("gopher://127.0.0.1:6379/_x", "scheme_not_allowed"),
        ("http://a.org:22/", "port_not_allowed"),
        ("//b.example/", "redirect_outside_root"),
        ("/x" * 2_000, "too_long"),
        ("#top", "redirect_loop"),
        ("caf\u00e9", "redirected"),
        ("../odd/there#fragment", "redirected"),
    ],
)
def test_where_a_redirect_may_not_lead_its_address_says_why(location: str, verdict: str, ledger: Ledger) -> None:
    with Site() as site:
        site.pages |= {"/odd/": page("<a href=r>r</a><a href=on>on</a>"), "/odd/on": page("on")}
        site.pages |= {"/odd/r": redirect(location), "/odd/there": page("x"), "/odd/caf%C3%A9": page("x")}
        run = crawl(make_document({"url": site.url("/odd/")}))
        asked = {one.target for one in site.log}
    found = ledger(run)
    assert (found["/odd/r"], found["/odd/on"], faults(run)) == (verdict, "crawled", [])
    assert asked <= {"/robots.txt", "/odd/", "/odd/r", "/odd/on", "/odd/there", "/odd/caf%C3%A9"}
    assert ("/odd/there" in asked or "/odd/caf%C3%A9" in asked) == (verdict == "redirected")
