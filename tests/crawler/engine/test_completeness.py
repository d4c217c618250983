"""Every way a page can lead to another is followed (design rule 17), over real HTTP; what robots.txt names is shown."""

import gzip

import pytest

from clearinghouse.addresses.address import Address
from clearinghouse.addresses.parsing import parse
from clearinghouse.published import types
from crawler.extract.page_reader import read
from crawler.ledger.ledger_check import faults
from crawler.models import LedgerEntry, PageVersion, Run
from crawler.sites.queries import robots_of
from crawler.values import Extracted, Fetched, Request
from tests.crawler.conftest import crawl, make_document
from tests.proves import proves
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])

NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
WAYS = {
    "an anchor": "<a href=/t>t</a>",
    "an image map": "<img usemap='#m'><map name=m><area shape=rect coords='0,0,9,9' href=/t alt=t></map>",
    "the next page": "<link rel=next href=/t>",
    "an alternate": "<link rel='alternate' hreflang=de href=/t>",
    "the canonical page": "<link rel=canonical href=/t>",
    "a frame": "<frameset><frame src=/t></frameset>",
    "an iframe": "<iframe src=/t></iframe>",
    "a meta refresh": "<meta http-equiv=Refresh content='0;URL=/t'>",
    "a base": "<base href=/x/><a href=../t>t</a>",
    "what readers without frames see": "<noframes><body><h1>h</h1><a href=/t>t</a></body></noframes>",
    "that of a frameset": "<frameset><NOFRAMES><a href=/t>t</a></NOFRAMES></frameset>",
    "an object": "<object data=/t><img src=i></object>",
    "an embedded page": "<embed src=/t type=application/pdf>",
    "a drawing": "<svg><a xlink:href=/t><text>t</text></a></svg>",
}


def sitemap(*urls: str) -> bytes:
    return f"<urlset {NAMESPACE}>{''.join(f'<url><loc>{url}</loc></url>' for url in urls)}</urlset>".encode()


def outcomes(run: Run) -> dict[str, str]:
    rows = LedgerEntry.objects.filter(excursion__run=run)
    return {"/" + row.url.split("/", 3)[-1]: row.reason or row.outcome for row in rows}


@proves("rule 17", "E1", "E13")
@pytest.mark.parametrize("markup", WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize("deep", [False, True], ids=["flat", "deeper than libxml2 reads"])
def test_every_kind_of_link_is_found(markup: str, deep: bool) -> None:
    address = parse("http://a.org/d/p")
    assert isinstance(address, Address)
    body = f"<!doctype html>{markup}{'<div>' * 5_000 if deep else ''}".encode()
    found = read(Fetched(Request(address.href, address), 200, [("content-type", "text/html")], body), address)
    assert isinstance(found, Extracted)
    assert [link.url for link in found.links] == ["http://a.org/t"]
    assert ("deep" in found.flags) == deep


@pytest.mark.parametrize("content_type", ["application/gzip", "application/x-gzip", "application/octet-stream", ""])
def test_a_link_to_a_packed_sitemap_leads_to_its_pages(content_type: str) -> None:
    pages = {"/": Page(["/sitemap.xml.gz"]), "/1": Page(), "/2": Page()}
    with serve(pages) as site:
        packed = gzip.compress(sitemap(site.url("/1"), site.url("/2")))
        site.pages["/sitemap.xml.gz"] = Page(body=packed, type=content_type)
        run = crawl(make_document({"url": site.url("/")}))
    assert outcomes(run) == {"/": "crawled", "/sitemap.xml.gz": "crawled", "/1": "crawled", "/2": "crawled"}
    stored = PageVersion.objects.get(url__endswith=".gz")
    assert (stored.type_id, stored.size) == (types.XML, len(packed))
    assert faults(run) == []


def test_a_packed_sitemap_that_its_server_unpacks_is_read_too() -> None:
    with serve({"/": Page(["/sitemap.xml.gz"]), "/1": Page()}) as site:
        packed = gzip.compress(sitemap(site.url("/1")))
        headers = {"Content-Encoding": "gzip"}
        site.pages["/sitemap.xml.gz"] = Page(body=packed, type="application/x-gzip", headers=headers)
        assert outcomes(crawl(make_document({"url": site.url("/")})))["/1"] == "crawled"


@pytest.mark.parametrize("path", ["/sitemap.gz", "/sitemap1.gz", "/feed.php"])
@pytest.mark.parametrize("size", [1, 3_000])
def test_a_packed_sitemap_of_any_name_is_known_by_what_is_inside(path: str, size: int) -> None:
    with serve({"/": Page([path]), "/1": Page()}) as site:
        urls = [site.url("/1")] * size
        site.pages[path] = Page(body=gzip.compress(sitemap(*urls)), type="application/x-gzip")
        assert outcomes(crawl(make_document({"url": site.url("/")}))) == {
            "/": "crawled",
            path: "crawled",
            "/1": "crawled",
        }


def test_a_packed_sitemap_of_several_members_is_read_whole() -> None:
    members = [
        gzip.compress(piece) for piece in (b"<urlset><url><loc>/1</loc></url>", b"<url><loc>/2</loc></url></urlset>")
    ]
    assert [link.url for link in read_packed(b"".join(members)).links] == ["http://a.org/1", "http://a.org/2"]


def test_other_packed_files_are_left_alone() -> None:
    packed = Page(body=gzip.compress(b"<x/>"), type="application/gzip")
    with serve({"/": Page(["/a.tar.gz", "/b.xml.gz"]), "/a.tar.gz": packed}) as site:
        site.pages["/b.xml.gz"] = Page(body=b"PK\x03\x04 no", type="application/gzip")
        run = crawl(make_document({"url": site.url("/")}))
    assert outcomes(run) == {"/": "crawled", "/a.tar.gz": "type_not_allowed", "/b.xml.gz": "type_not_allowed"}


def read_packed(body: bytes) -> Extracted:
    address = parse("http://a.org/s.xml.gz")
    assert isinstance(address, Address)
    headers = [("content-type", "application/gzip")]
    found = read(Fetched(Request(address.href, address), 200, headers, body), address)
    assert isinstance(found, Extracted)
    return found


@proves("I10")
def test_a_bomb_and_a_broken_file_are_cut_and_say_so() -> None:
    bomb = read_packed(gzip.compress(b"<urlset>" + b" " * 50_000_000))
    assert "body_cut" in bomb.flags and bomb.links == []
    whole = gzip.compress(sitemap(*(f"http://a.org/{n * 7919}" for n in range(5_000))))
    assert len(read_packed(whole).links) == 5_000 and read_packed(whole).flags == []
    half = read_packed(whole[: len(whole) // 2])
    assert 0 < len(half.links) < 5_000 and "body_cut" in half.flags
    assert "body_cut" in read_packed(b"\x1f\x8b nothing").flags


@proves("rule 17")
def test_feeds_and_sitemap_indexes_are_followed_when_a_link_leads_to_them() -> None:
    with serve({"/": Page(["/feed", "/index.xml"]), "/1": Page(), "/2": Page()}) as site:
        rss = f"<rss><channel><item><link>{site.url('/1')}</link></item></channel></rss>".encode()
        index = f"<sitemapindex {NAMESPACE}><sitemap><loc>{site.url('/map.xml')}</loc></sitemap></sitemapindex>"
        site.pages["/feed"] = Page(body=rss, type="application/rss+xml")
        site.pages["/index.xml"] = Page(body=index.encode(), type="text/xml")
        site.pages["/map.xml"] = Page(body=sitemap(site.url("/2")), type="text/xml")
        run = crawl(make_document({"url": site.url("/")}))
    assert set(outcomes(run).values()) == {"crawled"} and len(outcomes(run)) == 6


def test_links_that_are_no_addresses_come_back_whole_from_where_they_are_stored() -> None:
    body = b'<a href="http://[a&#x1f;b">1</a><a rel=nofollow href="http://[c&#10;d">2</a><a href="/t">t</a>'
    with serve({"/": Page(body=body), "/t": Page()}) as site:
        document = make_document({"url": site.url("/"), "obey_nofollow": True})
        first, second = crawl(document), crawl(document)
    assert outcomes(first) == outcomes(second) | {"/": "crawled", "/t": "crawled"}
    assert sorted(outcomes(first).values()) == ["bad_address", "bad_address", "crawled", "crawled"]
    assert faults(first) == faults(second) == []


@proves("rule 17")
def test_sitemaps_of_robots_txt_are_shown_and_never_followed() -> None:
    with serve({"/": Page(), "/1": Page()}) as site:
        text = f"User-agent: *\nCrawl-delay: 0.1\nSitemap: {site.url('/map.xml')}\nSitemap: {site.url('/map.xml')}\n"
        site.pages["/robots.txt"] = Page(body=text.encode(), type="text/plain")
        site.pages["/map.xml"] = Page(body=sitemap(site.url("/1")), type="text/xml")
        crawl(make_document({"url": site.url("/")}, {"url": "http://example.org/", "active": 0}))
        assert site.requests["/map.xml"] == 0
    shown = robots_of([site.address])[0]
    assert (shown.origin, shown.status, shown.sitemaps) == (site.address, 200, (site.url("/map.xml"),))
    assert shown.crawl_delay == 0.1 and "Sitemap:" in shown.text and shown.read_at is not None
    assert [one.status for one in robots_of(["http://never.example.org", site.address])] == [0, 200]
