"""Links in both directions, and the command that names the dead ones."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from clearinghouse.database.digests import digest_of
from clearinghouse.operations.command_base import Stop
from crawler.ledger import links_between_pages
from crawler.ledger.links_between_pages import backlinks, broken_links, children, newest_finished, parents
from crawler.models import Excursion, LedgerEntry, Run
from tests.crawler.conftest import crawl, make_document
from tests.sites.graph import Page, Site, html, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])


def excursion_of(run: Run) -> Excursion:
    return Excursion.objects.get(run=run)


def broken(*arguments: Any) -> dict[str, Any]:
    out = StringIO()
    call_command("broken_links", *arguments, "--json", stdout=out)
    answer: dict[str, Any] = json.loads(out.getvalue())
    return answer


def path(site: Site, url: str) -> str:
    return url.removeprefix(site.address)


def test_children_are_links_in_order_with_what_became_of_them() -> None:
    with serve(
        {"/m/": Page(["/m/a", "/m/x?sid=5f2d8a9b0c1e4f60a7b3", "/m/a", "/out"]), "/m/a": Page(), "/m/x": Page()}
    ) as site:
        run = crawl(make_document({"url": site.url("/m/")}))
    excursion = excursion_of(run)
    start = LedgerEntry.objects.get(excursion=excursion, url=site.url("/m/"))
    found = children(excursion, start.version_id or 0)
    assert [path(site, child.link.url) for child in found] == ["/m/a", "/m/x?sid=5f2d8a9b0c1e4f60a7b3", "/m/a", "/out"]
    decisions = [child.decision and (child.decision.reason or child.decision.outcome) for child in found]
    assert decisions == ["crawled", "crawled", "crawled", "outside_root"]


def test_parents_are_the_pages_that_link_here_with_their_anchor_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links_between_pages, "READ_AT_ONCE", 2)
    first = (
        b'<a href="/c">See c</a> <a href="/c?PHPSESSID=ew8vhx3ld1">again</a> <a href="/c">See c</a> <a href=/b>b</a>'
    )
    with serve({"/": Page(body=first), "/b": Page(["/c", "/"]), "/c": Page(["/c"])}) as site:
        run = crawl(make_document({"url": site.url("/")}))
    key = digest_of(site.url("/c"))
    found = parents(excursion_of(run), [key])[key]
    assert [(path(site, parent.url), parent.anchors) for parent in found] == [
        ("/", ["See c", "again"]), ("/b", ["to /c"]),
    ]  # fmt: skip
    assert backlinks(excursion_of(run).pk, key) == 2
    assert backlinks(excursion_of(run).pk, digest_of("elsewhere")) == 0


def test_both_directions_agree_for_every_address() -> None:
    pages = {f"/{n}": Page([f"/{(n * 7 + m) % 23}" for m in range(n % 5 + 1)]) for n in range(20)}
    with serve(pages) as site:
        run = crawl(make_document({"url": site.url("/1"), "depth": 99}))
    excursion = excursion_of(run)
    rows = list(LedgerEntry.objects.filter(excursion=excursion))
    inward = parents(excursion, [row.url_key for row in rows])
    outward = {(row.url_key, c.key) for row in rows if row.version_id for c in children(excursion, row.version_id)}
    assert {(p.key, key) for key, some in inward.items() for p in some} == {(a, b) for a, b in outward if a != b}
    assert {row.url_key: row.backlinks for row in rows} == {key: len(some) for key, some in inward.items()}


def test_dead_links_name_the_pages_that_refer_to_them() -> None:
    pages = {
        "/": Page(body=html("Start", ["/a", "/gone", "/old"])),
        "/a": Page(body=b'<a href="/gone">The lost report</a>'),
        "/old": Page(status=301, location="/older"),
        "/older": Page(status=302, location="/lost"),
    }
    with serve(pages) as site:
        run = crawl(make_document({"url": site.url("/")}))
        found = broken_links(excursion_of(run))
        shown = {
            path(site, one.entry.url): [(path(site, p.url), p.anchors, path(site, p.via)) for p in one.parents]
            for one in found
        }
    assert shown == {
        "/gone": [("/", ["to /gone"], ""), ("/a", ["The lost report"], "")],
        "/lost": [("/", ["to /old"], "/old")],
    }
    assert [one.pages for one in found] == [2, 1]


def test_only_the_newest_finished_crawl_of_each_document_speaks() -> None:
    with serve({"/": Page(["/gone", "/back"])}) as site:
        one, other = make_document({"url": site.url("/")}), make_document({"url": site.url("/")}, title="Other")
        crawl(one, other)
        assert broken()["broken"] == 4
        site.pages["/back"] = Page()
        second = crawl(one)
        assert [(e.doc_id, e.run_id) for e in newest_finished({one.pk})] == [(one.pk, second.pk)]
        assert broken("--doc", one.pk)["broken"] == 1
        assert broken()["broken"] == 3


def test_the_command_prints_json_and_a_list_for_people() -> None:
    with serve({"/": Page(["/gone", "http://127.0.0.1:1/none"])}) as site:
        document = make_document({"url": site.url("/")}, {"url": "http://127.0.0.1:1/none", "ignore_robots": True})
        run = crawl(document)
    answer = broken("--doc", str(document.pk))
    gone = next(link for link in answer["documents"][0]["links"] if link["url"] == site.url("/gone"))
    assert gone == {
        "url": site.url("/gone"), "reason": "http_4xx", "status": 404, "detail": "404", "depth": 1, "pages": 1,
        "found_on": [{"url": site.url("/"), "anchors": ["to /gone"]}],
    }  # fmt: skip
    assert answer["documents"][0]["run"] == run.pk
    out = StringIO()
    call_command("broken_links", stdout=out)
    assert f"on {site.url('/')}: to /gone" in out.getvalue()
    limited = broken("--limit", "0")["documents"][0]["links"][0]
    assert limited["found_on"] == [] and limited["pages"] == 1


def test_a_document_that_was_never_crawled_is_named() -> None:
    document = make_document({"url": "http://a.org/"})
    with pytest.raises(Stop, match="never crawled"):
        call_command("broken_links", "--doc", str(document.pk), "--json", stdout=StringIO())
    with pytest.raises(Stop, match="There is no document 77"):
        call_command("broken_links", "--doc", "77", "--json", stdout=StringIO())


def test_reading_ends_with_the_last_page_that_was_counted(django_assert_max_num_queries: Any) -> None:
    pages = {"/": Page([f"/{n}" for n in range(9)])} | {f"/{n}": Page() for n in range(9)}
    with serve(pages) as site:
        run = crawl(make_document({"url": site.url("/")}))
    with pytest.MonkeyPatch.context() as patch, django_assert_max_num_queries(5, using="webcrawl"):
        patch.setattr(links_between_pages, "READ_AT_ONCE", 1)
        assert len(parents(excursion_of(run), [digest_of(site.url("/3"))])) == 1
