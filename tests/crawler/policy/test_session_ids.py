"""Sites that write the session into their addresses: each page once, and none that only has the name of a session."""

from collections.abc import Callable

import pytest

from clearinghouse.addresses import Address
from clearinghouse.addresses.parsing import parse
from crawler.launching.launch import snapshot_of
from crawler.ledger.explain import YES, explain
from crawler.ledger.ledger_check import faults
from crawler.models import LedgerEntry, PageVersion, Run
from crawler.policy.identity import own_form
from crawler.preview.fetch_once import SingleFetcher
from crawler.preview.throttled_client import ThrottledClient
from crawler.preview.timed_rules import Deadline
from crawler.values import Credentials, Fetched, Request
from tests.crawler.conftest import crawl, make_document
from tests.proves import proves
from tests.sites.graph import Page, serve
from tests.sites.misbehaving import Answer, Asked, Site, page, redirect

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]
IDS = ["lit3py55t21z5v55vlm25s55", "axbxfd45dhgklo55rfkttr45", "0c1e4f60a7b35f2d8a9b1234"]


def test_articles_named_by_sid_are_all_crawled(ledger: Ledger) -> None:
    articles = [f"/article.php?sid={number}" for number in (1, 2, 3, 12, 123)]
    with serve({"/": Page(articles)} | {path: Page() for path in articles}) as site:
        document = make_document({"url": site.url("/")})
        assert ledger(crawl(document)) == dict.fromkeys(["/", *articles], "crawled")
        answer = explain(snapshot_of(document), site.url(articles[1]), site.url("/"))
    assert (answer["verdict"], answer["url"]) == (YES, site.url(articles[1]))


def test_a_page_with_another_session_in_each_link_is_crawled_once(ledger: Ledger) -> None:
    links = [f"/(S({one}))/a.aspx?id=3" for one in IDS] + [f"/a.aspx;jsessionid={one}?id=3" for one in IDS]
    links += [f"/a.aspx?id=3&sid={one}" for one in IDS]
    with serve({"/": Page(links), "/a.aspx?id=3": Page()}) as site:
        assert ledger(crawl(make_document({"url": site.url("/")}))) == {"/": "crawled", "/a.aspx?id=3": "crawled"}


def test_a_crawl_point_copied_with_its_session_from_a_browser_is_crawled(ledger: Ledger) -> None:
    with serve({"/app/": Page(["/app/b", "/other"]), "/app/b": Page()}) as site:
        run = crawl(make_document({"url": site.url(f"/(S({IDS[0]}))/app/")}))
        assert ledger(run) == {"/app/": "crawled", "/app/b": "crawled", "/other": "outside_root"}


class Cookieless:
    """ASP.NET with cookieless="true": every address without its folder is redirected to itself with one."""

    def __init__(self, body: str) -> None:
        self.body, self.given = body, 0

    def __call__(self, asked: Asked) -> Answer:
        self.given += 1
        return redirect(f"/(S({IDS[self.given % 3]})){asked.target}")(asked)

    def inside(self, asked: Asked) -> Answer:
        return page(self.body)(asked)


@proves("F10")
def test_a_site_that_redirects_each_page_to_itself_with_a_session_is_crawled(ledger: Ledger) -> None:
    with Site() as site:
        home, other = (
            Cookieless("<p>home <a href=b.aspx>b</a> <a href=/c/>c</a>"),
            Cookieless("<p>second <a href=/>h</a>"),
        )
        site.pages |= {"/": home, "/b.aspx": other}
        for one in IDS:
            site.pages |= {f"/(S({one}))/": home.inside, f"/(S({one}))/b.aspx": other.inside}
        document = make_document({"url": site.url("/")})
        run = crawl(document)
        assert ledger(run) == {"/": "crawled", "/b.aspx": "crawled", "/c/": "http_4xx"}
        assert ledger(crawl(document))["/b.aspx"] == "unchanged"
        line = ThrottledClient(until=1e12)
        seen = SingleFetcher(snapshot_of(document), {}, line, Deadline(10)).visit(site.url("/"))
        line.close()
    assert faults(run) == [] and {version.text for version in PageVersion.objects.all()} >= {"second h"}
    assert seen.good and len(seen.hops) == 1


def test_a_site_that_never_gives_the_page_is_left_after_two_more_tries(ledger: Ledger) -> None:
    with Site() as site:
        home = site.pages["/"] = Cookieless("")
        for one in IDS:
            site.pages[f"/(S({one}))/"] = home
        site.pages |= {f"/(S({a}))/(S({b}))/": home for a in IDS for b in IDS}
        assert ledger(crawl(make_document({"url": site.url("/")}), ignore_robots=True)) == {"/": "redirect_loop"}
        assert len(site.log) == 3
    assert LedgerEntry.objects.count() == 1


@pytest.mark.parametrize(
    ("place", "key", "followed"),
    [
        ("http://a.org/(S(lit3py55t21z5v55vlm25s55))/x", None, True),
        ("http://a.org/x", None, False),
        ("http://b.org/(S(lit3py55t21z5v55vlm25s55))/x", None, False),
        ("http://a.org:81/(S(lit3py55t21z5v55vlm25s55))/x", None, False),
        ("http://[bad", None, False),
        ("http://a.org/(S(lit3py55t21z5v55vlm25s55))/x", Credentials(1, "u", "p"), False),
    ],
)
def test_it_is_asked_for_at_its_own_site_only_and_never_with_a_password(
    place: str, key: Credentials | None, followed: bool
) -> None:
    named = parse("http://a.org/x")
    assert isinstance(named, Address)
    fetched = Fetched(Request(named.href, named, credentials=key), status=302)
    assert (own_form(named, fetched, place) is not None) is followed
