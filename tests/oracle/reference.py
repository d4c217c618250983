"""The reference crawler: sequential, slow, obviously right. It repeats design rules 1, 2 and 5 until nothing changes.

Shared with the product, as the design says, are only pure functions of one address: its canonical form, the traps,
robots.txt by Protego, and the wildcard language of excludes. Depth, hop, owners, roots, nofollow, redirects, circles
and maxima are worked out again here.
"""

import re
from dataclasses import dataclass, field
from urllib.parse import urljoin

import urllib3
from bs4 import BeautifulSoup
from protego import Protego

from clearinghouse.addresses import Address, Refusal
from clearinghouse.addresses.parsing import parse
from clearinghouse.addresses.patterns import compile_exclude
from crawler.policy.traps import suspicion
from crawler.values import USER_AGENT, PointSettings, Snapshot

MOST_HOPS = 10
ORDER = ["bad_address", "too_long", "scheme_not_allowed", "port_not_allowed", "outside_root", "trap_suspected",
         "excluded", "nofollow", "too_deep"]  # fmt: skip
# As the worlds write them: an id of PHP, and a folder of ASP.NET. Their `sid` is a number, which names a page.
SESSION = re.compile(r"^PHPSESSID=[0-9a-f]{26}$")
FOLDER = re.compile(r"/\(S\([a-z0-9]{24}\)\)(?=/|$)")
SELF_REDIRECTS = 2
Way = tuple[int, int]  # depth, hop: two separate minima


@dataclass
class Answer:
    """What a URL answers, whoever asks."""

    verdict: str  # crawled, a reason, or "redirect"
    links: list[tuple[str, bool]] = field(default_factory=list)  # resolved, with rel=nofollow or not
    nofollow: bool = False
    location: str = ""

    @property
    def counts(self) -> bool:
        return self.verdict not in {"redirect", "robots_disallowed"}


@dataclass
class Expected:
    """What a crawl of one document must come to."""

    ways: dict[str, dict[int, Way]] = field(default_factory=dict)  # accessed URL -> crawl point -> depth, hop
    verdicts: dict[str, str] = field(default_factory=dict)  # of every URL with a ledger row
    counted: dict[int, set[str]] = field(default_factory=dict)  # crawl point -> URLs that count under its maximum

    def nearest(self, url: str) -> Way:
        return min(self.ways[url].values())


class Web:
    """Fetches each URL once, with urllib3 and html.parser."""

    def __init__(self) -> None:
        self._pool = urllib3.PoolManager(headers={"X-Reference": "1"}, retries=False)
        self._answers: dict[str, Answer] = {}
        self._robots: dict[str, Protego] = {}

    def allowed(self, url: str) -> bool:
        origin = "/".join(url.split("/", 3)[:3])
        if origin not in self._robots:
            answer = self._pool.request("GET", origin + "/robots.txt")
            self._robots[origin] = Protego.parse(answer.data.decode() if answer.status == 200 else "")
        return self._robots[origin].can_fetch(url, USER_AGENT)

    def answer(self, url: str) -> Answer:
        if url not in self._answers:
            self._answers[url] = self._fetch(url)
        return self._answers[url]

    def _fetch(self, url: str) -> Answer:
        if url.startswith("https:"):
            return Answer("tls_failed")
        answer = self._pool.request("GET", url, redirect=False)
        if "Set-Cookie" in answer.headers and urljoin(url, answer.headers.get("Location", "")) == url:
            cookie = answer.headers["Set-Cookie"].partition(";")[0]
            answer = self._pool.request("GET", url, redirect=False, headers={"X-Reference": "1", "Cookie": cookie})
        status = answer.status
        if status in (301, 302, 303, 307, 308):
            place = answer.headers.get("Location", "")
            return Answer("redirect", location=joined(url, place)) if place else Answer("bad_response")
        if status == 200:
            return self._page(url, answer)
        return Answer("bad_response" if status < 300 else _refused(status))

    def _page(self, url: str, answer: urllib3.BaseHTTPResponse) -> Answer:
        if not answer.headers["Content-Type"].startswith("text/html"):
            return Answer("type_not_allowed")
        soup = BeautifulSoup(answer.data, "html.parser")
        links = [(joined(url, a["href"]), "nofollow" in (a.get("rel") or [])) for a in soup.find_all("a", href=True)]
        return Answer("crawled", links, nofollow=soup.find("meta", attrs={"name": "robots"}) is not None)


def _refused(status: int) -> str:
    return "auth_required" if status == 401 else "http_4xx" if status < 500 else "http_5xx"


def parsed(url: str) -> Address:
    address = parse(url)
    assert isinstance(address, Address)
    return address


def joined(url: str, href: str) -> str:
    try:
        return urljoin(url, href)
    except ValueError:
        return href


class Reference:
    """One document."""

    def __init__(self, snapshot: Snapshot, web: Web) -> None:
        self.points = {point.id: point for point in snapshot.points}
        self.web = web
        excludes = [compile_exclude(pattern) for pattern in snapshot.excludes]
        self.excludes = [exclude for exclude in excludes if not isinstance(exclude, Refusal)]
        self._named: dict[str, tuple[str, Address | None, str]] = {}

    # -- one address ------------------------------------------------------------------------------------------

    def owner(self, url: str) -> PointSettings | None:
        matching = [point for point in self.points.values() if _begins(url, point)]
        return min(matching, key=lambda point: (-len(point.root), point.id), default=None)

    def named(self, raw: str) -> tuple[str, Address | None, str]:
        """The page an address names, and the reason when it is no address at all."""
        if raw not in self._named:
            self._named[raw] = self._name(raw)
        return self._named[raw]

    def _name(self, raw: str) -> tuple[str, Address | None, str]:
        address = parse(raw)
        if isinstance(address, Refusal):
            return raw, None, address.reason
        while (owner := self.owner(address.href)) is not None:
            plain = parse(_without(address.href, owner))
            assert isinstance(plain, Address)
            if plain.href == address.href:
                break
            address = plain
        plain = parse(FOLDER.sub("", address.href))
        found = self.owner(plain.href) if isinstance(plain, Address) and owner is None else None
        if found is not None and found.drop_sessions and plain != address:  # its folder hid whose it is
            return self.named(FOLDER.sub("", address.href))
        return address.href, address, ""

    def refusal(self, raw: str, point: PointSettings, link_nofollow: bool = False, page_nofollow: bool = False) -> str:
        """The first check that stops this address for this crawl point, the depth aside."""
        url, address, reason = self.named(raw)
        if address is None:
            return reason
        owner = self.owner(url)
        if owner is None or not _begins(url, point):
            return "outside_root"
        if suspicion(address) and owner.stop_traps:
            return "trap_suspected"
        if any(exclude.matches(url) for exclude in self.excludes):
            return "excluded"
        if page_nofollow or (link_nofollow and owner.obey_nofollow):
            return "nofollow"
        return ""

    def answer(self, url: str) -> Answer:
        owner = self.owner(url)
        if owner is not None and not owner.ignore_robots and not self.web.allowed(url):
            return Answer("robots_disallowed")
        answer = self.web.answer(url)
        for _ in range(SELF_REDIRECTS):  # to itself, with an id that does not count: the page is there
            place = parse(answer.location) if answer.verdict == "redirect" else None
            itself = isinstance(place, Address) and self.named(place.href)[0] == url != place.href
            if not itself or not isinstance(place, Address) or place.origin != parsed(url).origin:
                break
            answer = self.web.answer(place.href)
        return answer

    # -- one crawl point --------------------------------------------------------------------------------------

    def arrivals(self, url: str, way: Way, point: PointSettings) -> list[tuple[str, Way, str]]:
        """Where one URL leads for one crawl point: (raw address, way, refusal)."""
        answer, (depth, hop) = self.answer(url), way
        if answer.verdict == "redirect":
            refused = self.refusal(answer.location, point)
            if refused or hop >= MOST_HOPS or self.named(answer.location)[0] == url:
                return []
            return [(answer.location, (depth, hop + 1), "")]
        found = []
        for raw, nofollow in answer.links:
            refused = self.refusal(raw, point, nofollow, answer.nofollow)
            found.append((raw, (depth + 1, 0), refused or ("too_deep" if depth >= point.depth else "")))
        return found

    def closure(self, point: PointSettings) -> tuple[dict[str, Way], dict[str, set[str]]]:
        """All this crawl point alone reaches with its depth and hop, and what it met that was refused."""
        refused = self.refusal(point.url, point)
        start = self.named(point.url)[0]
        if refused:
            return {}, {start: {refused}}
        best: dict[str, Way] = {start: (0, 0)}
        changed = True
        while changed:
            changed = False
            refusals: dict[str, set[str]] = {}
            for url in list(best):
                for raw, (depth, hop), reason in self.arrivals(url, best[url], point):
                    name = self.named(raw)[0]
                    if reason:
                        refusals.setdefault(name, set()).add(reason)
                        continue
                    old = best.get(name, (9999, 9999))
                    new = (min(old[0], depth), min(old[1], hop))
                    if new != old:
                        best[name], changed = new, True
        return best, refusals

    # -- the document -----------------------------------------------------------------------------------------

    def expected(self) -> Expected:
        result = Expected()
        refusals: dict[str, set[str]] = {}
        for point in self.points.values():
            best, refused = self.closure(point)
            for url, way in best.items():
                result.ways.setdefault(url, {})[point.id] = way
            for url, reasons in refused.items():
                refusals.setdefault(url, set()).update(reasons)
            result.counted[point.id] = {url for url in best if self.answer(url).counts}
        for url, reasons in refusals.items():
            result.verdicts[url] = max(reasons, key=ORDER.index)
        for url, ways in result.ways.items():
            answer = self.answer(url)
            result.verdicts[url] = self._redirected(url, ways) if answer.verdict == "redirect" else answer.verdict
        self._name_circles(result)
        return result

    def _redirected(self, url: str, ways: dict[int, Way]) -> str:
        location = self.answer(url).location
        if self.named(location)[0] == url:
            return "redirect_loop"
        refused = {number: self.refusal(location, self.points[number]) for number in ways}
        if any(not refused[number] and hop < MOST_HOPS for number, (_, hop) in ways.items()):
            return "redirected"
        if not all(refused.values()):
            return "too_many_redirects"
        furthest = max(refused.values(), key=ORDER.index)
        return {"outside_root": "redirect_outside_root", "excluded": "redirect_excluded"}.get(furthest, furthest)

    def _name_circles(self, result: Expected) -> None:
        leads = {
            url: self.named(self.answer(url).location)[0]
            for url, verdict in result.verdicts.items()
            if url in result.ways and verdict in ("redirected", "too_many_redirects")
        }
        for url in leads:
            at = url
            for _ in range(MOST_HOPS):
                at = leads.get(at, "")
                if at == url:
                    result.verdicts[url] = "redirect_loop"


def _begins(url: str, point: PointSettings) -> bool:
    if url.startswith(point.root):
        return True
    scheme, _, rest = point.root.partition("://")
    return point.merge_schemes and url.startswith(("http" if scheme == "https" else "https") + "://" + rest)


def without_ids(url: str) -> str:
    path, mark, query = url.partition("?")
    kept = "&".join(part for part in query.split("&") if not SESSION.match(part))
    return FOLDER.sub("", path) + (mark if kept or not query else "") + kept


def _without(url: str, owner: PointSettings) -> str:
    """The address without what its owner does not count: the query, session parameters, the scheme."""
    path, mark, query = url.partition("?")
    if owner.ignore_query:
        mark = query = ""
    if owner.drop_sessions:
        path, mark, query = without_ids(path + mark + query).partition("?")
    if owner.merge_schemes:
        path = owner.root.partition("://")[0] + "://" + path.partition("://")[2]
    return path + mark + query
