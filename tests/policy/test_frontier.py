"""The closure is exact: what the frontier reaches, and how deep, is what each crawl point alone would reach.

The oracle below computes it by repeating the rules until nothing changes; the frontier is driven in random order.
"""

import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from clearinghouse.database.digests import digest_of
from crawler.policy import path
from crawler.policy.frontier import GO, SHORT, Frontier
from crawler.values import PointSettings, Snapshot
from tests.proves import proves

SITE = "https://a.example/"


@dataclass
class Graph:
    links: dict[str, list[str]] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)


def random_graph(rnd: random.Random) -> tuple[Graph, Snapshot]:
    folders = ["x/", "y/", "x/z/"]
    urls = [f"{SITE}{rnd.choice(folders)}{number}" for number in range(rnd.randint(5, 40))]
    graph = Graph()
    for url in urls:
        if rnd.random() < 0.25:
            graph.redirects[url] = rnd.choice(urls)
        else:
            graph.links[url] = rnd.choices(urls, k=rnd.randint(0, 5))
    points = []
    for number in range(rnd.randint(1, 3)):
        start = rnd.choice(urls)
        root = rnd.choice([SITE, start[: start.rindex("/") + 1]])
        points.append(PointSettings(id=number + 1, url=start, root=root, depth=rnd.randint(0, 6)))
    return graph, Snapshot(1, tuple(points), ())


def oracle(graph: Graph, snapshot: Snapshot) -> dict[str, dict[int, tuple[int, int]]]:
    """URL -> crawl point -> (depth, hop), by repeating the rules until nothing changes."""
    found: dict[str, dict[int, tuple[int, int]]] = {}
    for point in snapshot.points:
        best = {point.url: (0, 0)}
        changed = True
        while changed:
            changed = False
            for url, (depth, hop) in list(best.items()):
                arrivals = [(link, depth + 1, 0) for link in graph.links.get(url, []) if depth < point.depth]
                if url in graph.redirects and hop < 10 and graph.redirects[url] != url:
                    arrivals.append((graph.redirects[url], depth, hop + 1))
                for link, new_depth, new_hop in arrivals:
                    if not link.startswith(point.root):
                        continue
                    old = best.get(link, (9999, 9999))
                    new = (min(old[0], new_depth), min(old[1], new_hop))
                    if new != old:
                        best[link], changed = new, True
        for url, way in best.items():
            found.setdefault(url, {})[point.id] = way
    return found


def crawl(graph: Graph, snapshot: Snapshot, rnd: random.Random) -> tuple[Frontier, set[str]]:
    """Drive the frontier like an instance, in random order; returns it and the URLs that were fetched."""
    frontier = Frontier(snapshot)
    frontier.seed()
    waiting: list[str] = []
    fetched: set[str] = set()
    by_key: dict[bytes, str] = {}

    def take_up() -> None:
        for item in frontier.fresh:
            by_key[item.key] = item.url
            waiting.append(item.url)
        frontier.fresh = []

    def expand(url: str, ways: Sequence[path.Way]) -> None:
        key = digest_of(url)
        if not ways:
            return
        if url in graph.redirects:
            frontier.redirect(key[:SHORT], key, graph.redirects[url], ways)
        else:
            frontier.links(key, ways, graph.links.get(url, []))

    take_up()
    while waiting:
        url = waiting.pop(rnd.randrange(len(waiting)))
        assert url not in fetched, "fetched twice"
        short = digest_of(url)[:SHORT]
        assert frontier.may_start(short) == GO
        fetched.add(url)
        expand(url, frontier.finish(digest_of(url), counts=url not in graph.redirects))
        while frontier.changes.again:
            again, frontier.changes.again = frontier.changes.again, {}
            for key in again.values():
                expand(by_key[key], frontier.expandable(key))
        take_up()
    return frontier, fetched


@proves("rule 1", "F13")
@pytest.mark.parametrize("seed", range(300))
def test_what_is_reached_and_how_deep_does_not_depend_on_the_order(seed: int) -> None:
    rnd = random.Random(seed)
    graph, snapshot = random_graph(rnd)
    frontier, fetched = crawl(graph, snapshot, rnd)
    expected = oracle(graph, snapshot)
    assert fetched == set(expected)
    for url, ways in expected.items():
        found = {frontier.ids[w.point]: (w.depth, w.hop) for w in frontier.ways(digest_of(url)[:SHORT])}
        assert found == ways, url


@proves("rule 5", "D15")
def test_a_redirect_circle_is_named_for_every_member() -> None:
    snapshot = Snapshot(1, (PointSettings(id=1, url=SITE + "a", root=SITE, depth=3),), ())
    frontier = Frontier(snapshot)
    frontier.seed()
    urls = [SITE + name for name in "abc"]
    outcomes = []
    for url, target in zip(urls, [*urls[1:], urls[0]], strict=True):
        key = digest_of(url)
        ways = frontier.finish(key, counts=False)
        outcomes.append(frontier.redirect(key[:SHORT], key, target, ways)[1].reason)
    assert outcomes == ["", "", "redirect_loop"]
    assert set(frontier.changes.loops) == {digest_of(url) for url in urls}


@proves("D14")
def test_the_eleventh_redirect_in_a_row_is_too_many() -> None:
    snapshot = Snapshot(1, (PointSettings(id=1, url=SITE + "0", root=SITE, depth=0),), ())
    frontier = Frontier(snapshot)
    frontier.seed()
    reasons = []
    for number in range(11):
        key = digest_of(f"{SITE}{number}")
        ways = frontier.finish(key, counts=False)
        reasons.append(frontier.redirect(key[:SHORT], key, f"{SITE}{number + 1}", ways)[1].reason)
    assert reasons == [""] * 10 + ["too_many_redirects"]


def test_the_verdict_that_got_furthest_is_kept() -> None:
    points = (
        PointSettings(id=1, url=SITE + "x/1", root=SITE + "x/", depth=1),
        PointSettings(id=2, url=SITE + "y/1", root=SITE, depth=0),
    )
    frontier = Frontier(Snapshot(1, points, ()))
    frontier.seed()
    first, second = digest_of(SITE + "x/1"), digest_of(SITE + "y/1")
    frontier.links(first, frontier.finish(first, counts=True), [SITE + "z"])
    target = digest_of(SITE + "z")[:SHORT]
    assert frontier.changes.skips[target].refusal.reason == "outside_root"
    frontier.links(second, frontier.finish(second, counts=True), [SITE + "z"])
    assert frontier.changes.skips[target].refusal.reason == "too_deep"


def test_what_is_kept_of_an_address_fills_the_memory_python_gives_for_it() -> None:
    """In steps of sixteen bytes: of a million addresses, one byte too many takes 16 MB."""
    assert sys.getsizeof(bytes(SHORT)) % 16 == 0


def test_what_is_alike_in_links_is_kept_once_and_forgotten_with_everything_else() -> None:
    frontier = Frontier(Snapshot(1, (PointSettings(id=1, url=SITE, root=SITE, depth=1),), ()))
    frontier.seed()
    links = [frontier.judge(SITE + name) for name in ("a", "b", "c#top")]
    assert [link.href for link in links] == [SITE + "a", SITE + "b", SITE + "c"]
    assert links[0].refusals is links[1].refusals and links[0].refusals == (None,)
    url = SITE + "".join("de")
    assert frontier.judge(url).href is url
    frontier.forget()
    assert not frontier.known and frontier.judge(SITE + "a") is not links[0]


def test_a_maximum_counts_answers_but_not_redirects_and_holds_while_a_place_may_come_back() -> None:
    snapshot = Snapshot(1, (PointSettings(id=1, url=SITE + "a", root=SITE, depth=3, max_pages=1),), ())
    frontier = Frontier(snapshot)
    frontier.seed()
    start, other = digest_of(SITE + "a"), digest_of(SITE + "b")
    frontier.start(start[:SHORT])
    frontier.redirect(start[:SHORT], start, SITE + "b", frontier.ways(start[:SHORT]))
    assert frontier.may_start(other[:SHORT]) == "hold"
    frontier.finish(start, counts=False)
    assert frontier.may_start(other[:SHORT]) == GO
    frontier.start(other[:SHORT])
    frontier.finish(other, counts=True)
    assert frontier.limits[0].used == 1 and frontier.limits[0].full


@pytest.mark.parametrize("obeys,reason", [(True, "nofollow"), (False, "")])
def test_nofollow_of_a_link_is_obeyed_when_the_crawl_point_says_so(obeys: bool, reason: str) -> None:
    point = PointSettings(id=1, url=SITE + "a", root=SITE, depth=3, obey_nofollow=obeys)
    frontier = Frontier(Snapshot(1, (point,), ()))
    frontier.seed()
    key = digest_of(SITE + "a")
    frontier.links(key, frontier.finish(key, counts=True), [SITE + "b", SITE + "c"], marks="10")
    skip = frontier.changes.skips.get(digest_of(SITE + "b")[:SHORT])
    assert (skip.refusal.reason if skip else "") == reason
    assert digest_of(SITE + "c")[:SHORT] in frontier.changes.found
