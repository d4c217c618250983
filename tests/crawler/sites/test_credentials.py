"""A saved password opens the crawl point's own site, and nothing else ever sees it."""

import base64
from collections.abc import Callable

import pytest

from clearinghouse.vault.sealing import binding_of, seal
from crawler.fetch.sign_in.point_key import PointKey
from crawler.models import Run
from crawler.sites.credentials import InstanceCredentials
from crawler.values import PointSettings
from crawlpoints.models import AuthType, CrawlPoint
from tests.crawler.conftest import crawl, make_document
from tests.proves import proves
from tests.sites.graph import Page, Site, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]
CANARY = "C4n4ry-pässword"
EXPECTED = "Basic " + base64.b64encode(f"reader:{CANARY}".encode()).decode()


def protect(url: str, root: str, password: str = CANARY) -> dict[str, object]:
    """The values of a crawl point with Basic authentication."""
    sealed = seal(password, binding_of(url, root, AuthType.BASIC, ""))
    return {"url": url, "root": root, "auth_type": AuthType.BASIC, "login": "reader", "password": sealed}


def authorized(site: Site) -> set[str]:
    return {path for path, headers in site.seen if headers.get("authorization")}


@proves("rule 10")
def test_the_password_goes_to_addresses_under_the_root_string_only(ledger: Ledger) -> None:
    with serve({"/": Page()}) as other:
        pages = {
            "/robots.txt": Page(status=404),
            "/m/": Page(["/m/a", "/public", other.url("/")]),
            "/m/a": Page(status=302, location="/public"),
            "/": Page(["/public", "/m/"]),
            "/public": Page(),
        }
        with serve(pages) as site:
            run = crawl(make_document(protect(site.url("/m/"), site.url("/m/")), {"url": site.url("/"), "depth": 9}))
            assert authorized(site) == {"/m/", "/m/a"}
            assert all(h["authorization"] == EXPECTED for p, h in site.seen if p.startswith("/m/"))
            assert not other.requests
    assert ledger(run)["/public"] == "crawled"


@proves("D22")
def test_a_wrong_password_is_named_and_tried_once_a_page(ledger: Ledger) -> None:
    with serve({"/": Page(status=401, headers={"WWW-Authenticate": 'Basic realm="x"'})}) as site:
        run = crawl(make_document(protect(site.url("/"), site.url("/"))))
        assert site.requests["/"] == 1
    assert ledger(run) == {"/": "auth_failed"}


@proves("D22")
def test_a_site_that_asks_without_a_saved_password(ledger: Ledger) -> None:
    with serve({"/": Page(status=401)}) as site:
        assert ledger(crawl(make_document({"url": site.url("/")}))) == {"/": "auth_required"}


@proves("rule 10", "G5")
def test_a_password_that_cannot_be_read_is_refused_without_a_request(ledger: Ledger) -> None:
    with serve({"/": Page()}) as site:
        document = make_document(protect(site.url("/"), site.url("/")))
        CrawlPoint.objects.update(root=site.url("/") + "x")  # an edited row does not open the password
        CrawlPoint.objects.update(url=site.url("/x"))
        run = crawl(document)
        assert not [path for path in site.requests if path != "/robots.txt"]
    assert set(ledger(run).values()) == {"auth_failed"}


@proves("I11")
def test_the_password_stands_nowhere_in_the_crawl_database(ledger: Ledger) -> None:
    with serve({"/": Page()}) as site:
        run = crawl(make_document(protect(site.url("/"), site.url("/"))))
    excursion = run.excursions.get()
    assert CANARY not in str(excursion.snapshot) and "password" not in excursion.snapshot["points"][0]


@proves("rule 10")
@pytest.mark.parametrize("kind", [AuthType.BASIC, AuthType.DIGEST, AuthType.NTLM, AuthType.FORM])
@pytest.mark.parametrize(
    ("url", "opens"),
    [
        ("https://a.org/m/", True),
        ("https://a.org/m/x?y", True),
        ("https://a.org/", False),
        ("https://a.org/mm/", False),
        ("https://a.org/M/", False),
        ("http://a.org/m/", False),
        ("https://a.org:8443/m/", False),
        ("https://www.a.org/m/", False),
        ("https://a.org.evil.org/m/", False),
    ],
)
def test_which_addresses_a_key_opens(kind: AuthType, url: str, opens: bool) -> None:
    start, page = "https://a.org/m/", "https://a.org/sign-in" if kind == AuthType.FORM else ""
    sealed = seal(CANARY, binding_of(start, start, kind, page))
    point = CrawlPoint(url=start, root=start, auth_type=kind, login="reader", password=sealed, sign_in_url=page)
    point.save()
    owner = PointSettings(point.pk, start, start, auth_type=kind, login="reader", sign_in_url=page)
    key = InstanceCredentials().for_request(owner, url)
    assert (isinstance(key, PointKey) and key.password == CANARY) if opens else key is None


@proves("rule 10")
def test_a_root_string_on_another_site_is_not_opened() -> None:
    owner = PointSettings(1, "https://a.org/m/", "https://b.org/", auth_type=AuthType.BASIC, login="reader")
    assert InstanceCredentials().for_request(owner, "https://b.org/x") is None
    assert InstanceCredentials().for_request(owner, "https://a.org/m/") is None


def test_a_root_string_without_a_site_opens_no_address_of_the_other_scheme() -> None:
    owner = PointSettings(1, "https://a.org/m/", "http", auth_type=AuthType.BASIC, login="reader")
    assert InstanceCredentials().for_request(owner, "http://a.org/m/") is None
