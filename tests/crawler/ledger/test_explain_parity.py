"""The tester cannot differ from the crawler: random sites are crawled, then every address of the ledger is explained.

For each address that was judged when it was found, or stopped by robots.txt, the explainer names the same reason;
for each that was fetched it says yes.
"""

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from clearinghouse.library.models import Document
from crawler.launching.launch import snapshot_of
from crawler.ledger.explain import NO, YES, explain
from crawler.ledger.links_between_pages import keys_of, parents
from crawler.models import Excursion, LedgerEntry, Run
from crawler.policy.address_checks import CHECK_ORDER
from tests.crawler.conftest import crawl, make_document
from tests.sites.graph import Page, Site, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])

JUDGED = {
    "bad_address", "too_long", "scheme_not_allowed", "port_not_allowed", "trap_suspected", "outside_root", "excluded",
    "too_deep", "robots_disallowed",
}  # fmt: skip
FOLDERS = ("/m/", "/m/sub/", "/n/")
STRANGE = (
    "mailto:someone@example.org", "ftp://example.org/file", "javascript:void(0)", "http://[broken", "http://",
    "http://example.org:22/", "http://example.org:6379/m/", "/m/" + "long/" * 500, "/m/a/b/a/b/a/b/a",
    "/m/" + "/".join(str(n) for n in range(20)), "/m/?" + "&".join(f"p{n}=1" for n in range(12)), "/other/page",
    "/m/print/1", "/m/1?PHPSESSID=ew8vhx3ld1",
    "/m/2?sid=3", "/(S(lit3py55t21z5v55vlm25s55))/m/3", "/m/private/x", "/n/private/x", "/m/2.secret", "http://localhost/m/",
    "http://localhost/m/a/b/a/b/a/b/a",
)  # fmt: skip
EXCLUDES = ("{site}/m/print/*", "*secret*", "regex:/n/[0-9]*3$", "{site}/m/sub/5")
SEEDS = range(16)


def random_site(chance: random.Random) -> dict[str, Page]:
    paths = [f"{chance.choice(FOLDERS)}{n}" for n in range(chance.randint(8, 30))] + list(FOLDERS)
    pages = {"/robots.txt": Page(body=b"User-agent: *\nDisallow: /*/private/\nDisallow: /n/7", type="text/plain")}
    for path in paths:
        links = chance.sample(paths, chance.randint(0, 4)) + chance.sample(STRANGE, chance.randint(0, 3))
        if chance.random() < 0.15:
            pages[path] = Page(status=302, location=chance.choice(paths))
        elif chance.random() < 0.1:
            pages[path] = Page(status=404, body=b"none")
        else:
            pages[path] = Page(links)
    # A chain, so that depth limits always bite.
    for n in range(6):
        pages[f"/m/chain-{n}"] = Page([f"/m/chain-{n + 1}", *chance.sample(paths, 1)])
    pages["/m/"] = Page(["/m/chain-0", *chance.sample(paths, 3), *chance.sample(STRANGE, 4)])
    return pages


def random_document(site: Site, chance: random.Random) -> Document:
    points: list[dict[str, Any]] = [{"url": site.url("/m/"), "depth": chance.randint(1, 5)}]
    for folder in FOLDERS[1:]:
        if chance.random() < 0.5:
            options = {"stop_traps": chance.random() < 0.5, "drop_sessions": chance.random() < 0.5}
            points.append({"url": site.url(folder), "depth": chance.randint(0, 4)} | options)
    excludes = tuple(one.format(site=site.address) for one in EXCLUDES if chance.random() < 0.6)
    return make_document(*points, excludes=excludes)


def explained(document: Document, run: Run) -> Iterator[tuple[LedgerEntry, dict[str, Any]]]:
    """Every address with the best answer over all pages it was found on: the ledger keeps the verdict that got
    furthest, whoever found it."""
    excursion, snapshot = Excursion.objects.get(run=run, doc_id=document.pk), snapshot_of(document)
    rows = list(LedgerEntry.objects.filter(excursion=excursion).order_by("id"))
    key_of = keys_of(excursion)
    on_pages = parents(excursion, [row.url_key for row in rows])
    for row in rows:
        sources = [parent.url for parent in on_pages[row.url_key]]
        sources += [other.url for other in rows if other.redirect_url and key_of(other.redirect_url) == row.url_key]
        answers = [explain(snapshot, row.url, source) for source in sources or [""]]
        yield row, max(answers, key=lambda answer: order(answer))


def order(answer: dict[str, Any]) -> int:
    return CHECK_ORDER.index(answer["reason"]) if answer["reason"] else len(CHECK_ORDER)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_explainer_says_what_the_crawler_did(seed: int) -> None:
    chance = random.Random(seed)
    with serve(random_site(chance)) as site:
        document = random_document(site, chance)
        run = crawl(document)
    seen: Counter[str] = Counter()
    for row, answer in explained(document, run):
        if row.reason in JUDGED:
            assert (answer["verdict"], answer["reason"]) == (NO, row.reason), (row.url, row.depth, answer)
            seen[row.reason] += 1
        elif row.status:
            assert (answer["verdict"], answer["reason"]) == (YES, ""), (row.url, row.depth, row.outcome, answer)
            seen["fetched"] += 1
    assert seen["fetched"] and len(seen) > 2


def test_several_crawl_points_each_have_their_own_depth() -> None:
    pages = {
        "/a/": Page(["/b/1", "/a/1"]), "/a/1": Page(["/a/2"]), "/a/2": Page(["/b/9", "/a/3"]),
        "/b/": Page(["/a/2"]), "/b/1": Page(), "/b/9": Page(), "/a/3": Page(),
    }  # fmt: skip
    with serve(pages) as site:
        root = site.url("/")
        document = make_document(
            {"url": site.url("/a/"), "root": root, "depth": 1}, {"url": site.url("/b/"), "root": root, "depth": 2}
        )
        run = crawl(document)
        snapshot = snapshot_of(document)
        assert explain(snapshot, site.url("/a/2"), site.url("/a/1"))["reason"] == "too_deep"
        near = explain(snapshot, site.url("/b/9"), site.url("/a/2"))
        assert (near["verdict"], near["depth"]) == (YES, 2)
        first, second = (point.id for point in snapshot.points)
        assert near["crawl_point_id"] == second, "the one that lets it in"
        assert explain(snapshot, site.url("/b/9"))["crawl_point_id"] == second, "its depth limit is the higher one"
        assert explain(snapshot, site.url("/b/1"), site.url("/a/"))["crawl_point_id"] == first
    assert Excursion.objects.get(run=run).failed == 0


def test_an_address_behind_a_redirect_is_as_deep_as_the_redirect() -> None:
    with serve({"/": Page(["/old"]), "/old": Page(status=301, location="/new"), "/new": Page(["/more"])}) as site:
        document = make_document({"url": site.url("/"), "depth": 1})
        crawl(document)
        snapshot = snapshot_of(document)
        assert explain(snapshot, site.url("/new"), site.url("/old"))["depth"] == 1
        behind = explain(snapshot, site.url("/more"), site.url("/new"))
        assert (behind["verdict"], behind["reason"], behind["depth"]) == (NO, "too_deep", 2)
        assert [line["result"] for line in behind["trace"] if line["check"] in ("depth", "robots")] == ["stop", "idle"]
