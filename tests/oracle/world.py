"""Random sites: redirects in chains and circles, duplicates, failures, traps, robots.txt; and how they are crawled."""

import random
from dataclasses import dataclass, field, replace

from crawler.values import PointSettings, Snapshot

FOLDERS = ["/", "/x/", "/x/z/", "/y/", "/xy/"]
FAILURES = [404, 404, 410, 403, 401, 501, 206]


@dataclass
class Node:
    """One address of a site."""

    links: list[tuple[str, bool]] = field(default_factory=list)  # as written in the page, with rel=nofollow or not
    status: int = 200
    location: str = ""
    kind: str = "text/html; charset=utf-8"
    nofollow: bool = False  # of the whole page
    cookie: bool = False  # sends back to itself until it gets its cookie
    etag: bool = False
    duplicate: bool = False  # shows the same text as the other twins


@dataclass
class World:
    seed: int
    nodes: dict[str, Node] = field(default_factory=dict)  # by path and query
    robots: str = ""
    documents: list[Snapshot] = field(default_factory=list)  # the ids are given by the database
    instances: int = 1
    kills: list[int] = field(default_factory=list)  # for each process to be killed: at which write
    twice: bool = False  # crawled a second time: all is unchanged then

    @property
    def limited(self) -> bool:
        return any(point.max_pages for document in self.documents for point in document.points)


def make_world(seed: int, base: str) -> World:
    """The same seed gives the same world, whatever address it is served at."""
    rnd = random.Random(seed)
    world = World(seed, nodes=_nodes(rnd, base))
    if rnd.random() < 0.3:
        world.robots = "User-agent: *\n" + "".join(f"Disallow: {_forbidden(rnd)}\n" for _ in range(rnd.randint(1, 2)))
    limited = rnd.random() < 0.25
    world.documents = [_document(rnd, base, list(world.nodes), limited) for _ in range(rnd.choice([1, 1, 1, 2, 3]))]
    world.instances = rnd.choice([1, 1, 1, 2, 3, 4])
    if rnd.random() < 0.6:
        world.kills = [rnd.randint(1, 16) for _ in range(rnd.choice([1, 1, 2, 3]))]
    world.twice = not limited and rnd.random() < 0.2
    return world


# -- the site ---------------------------------------------------------------------------------------------------


def _nodes(rnd: random.Random, base: str) -> dict[str, Node]:
    paths = [_path(rnd, number) for number in range(int(5 * 40 ** rnd.random()))]
    share = rnd.choice([0.0, 0.1, 0.25, 0.5])
    nodes = {path: _node(rnd, base, paths, share) for path in paths}
    if rnd.random() < 0.35:
        _chain(rnd, nodes, base, rnd.randint(2, 13))
    if rnd.random() < 0.3:
        _circle(rnd, nodes, rnd.randint(1, 12))
    return nodes


def _path(rnd: random.Random, number: int) -> str:
    if rnd.random() < 0.04:
        return f"/t/a/a/a/{number}.html"  # looks endless
    if rnd.random() < 0.1:
        return f"{rnd.choice(FOLDERS)}p?n={number}"
    return f"{rnd.choice(FOLDERS)}{number}.html"


def _node(rnd: random.Random, base: str, paths: list[str], redirects: float) -> Node:
    dice = rnd.random()
    if dice < redirects:
        place = _written(rnd, base, rnd.choice(paths)) if rnd.random() < 0.9 else _junk(rnd, base)
        return Node(status=rnd.choice([301, 302, 303, 307, 308]), location=place)
    if dice < redirects + 0.05:
        return Node(status=rnd.choice(FAILURES))
    if dice < redirects + 0.07:
        return rnd.choice([Node(kind="image/png"), Node(status=301), Node(cookie=True)])
    links = [(_written(rnd, base, path), rnd.random() < 0.05) for path in rnd.choices(paths, k=rnd.randint(1, 6))]
    links += [(_junk(rnd, base), False)] if rnd.random() < 0.15 else []
    return Node(links, nofollow=rnd.random() < 0.04, etag=rnd.random() < 0.3, duplicate=rnd.random() < 0.1)


def _written(rnd: random.Random, base: str, path: str) -> str:
    """One of the ways an author may write the same address; now and then one that is not: `sid=3` names a page."""
    joint = "&" if "?" in path else "?"
    number = rnd.randint(1, 9)
    other = f"{path}{joint}sid={number % 3}#x" if number == 9 else path
    ways = [other, path, path, base + path, path + "#part"]
    ways += [f"{path}{joint}PHPSESSID={number}e4f60a7b35f2d8a9b0c1e4f60", "HTTP" + base[4:] + path, "/q/.." + path]
    ways += [f"/(S(lit3py55t21z5v55vlm25s5{number % 6})){path}"]
    if rnd.random() < 0.03:
        return base.replace("127.0.0.1", "localhost") + path
    return rnd.choice(ways)


def _junk(rnd: random.Random, base: str) -> str:
    return rnd.choice([
        "mailto:a@b.example", "javascript:void(0)", "http://[bad", base + "/" + "x" * 2100, "ftp://a.example/",
        "http://other.example/", "https" + base[4:] + "/x/1.html", "/missing.html", "/t/a/a/a/b", "/1" * 17,
        "/x/list?" + "&".join(f"{letter}=1" for letter in "abcdefghijkl"),
    ])  # fmt: skip


def _chain(rnd: random.Random, nodes: dict[str, Node], base: str, length: int) -> None:
    names = [f"/chain{number}" for number in range(length)]
    ends = [*names[1:], rnd.choice(list(nodes))]
    _lead_to(rnd, nodes, names)
    for name, place in zip(names, ends, strict=True):
        nodes[name] = Node(status=302, location=_written(rnd, base, place))


def _circle(rnd: random.Random, nodes: dict[str, Node], length: int) -> None:
    names = [f"/circle{number}" for number in range(length)]
    _lead_to(rnd, nodes, names)
    for name, place in zip(names, [*names[1:], names[0]], strict=True):
        nodes[name] = Node(status=301, location=place)


def _lead_to(rnd: random.Random, nodes: dict[str, Node], names: list[str]) -> None:
    """Some pages link into it, mostly at its beginning; some redirects lead there."""
    for path in rnd.choices(list(nodes), k=3):
        name = names[0] if rnd.random() < 0.7 else rnd.choice(names)
        if nodes[path].location:
            nodes[path] = Node(status=302, location=name)
        else:
            nodes[path].links.append((name, False))


def _forbidden(rnd: random.Random) -> str:
    return rnd.choice(["/y/", "/x/z/", "/x/1", "/*n=1", "/chain3"])


# -- what is asked of the crawler -------------------------------------------------------------------------------


def _document(rnd: random.Random, base: str, paths: list[str], limited: bool) -> Snapshot:
    points = [_point(rnd, base, paths, limited) for _ in range(rnd.choice([1, 1, 2, 2, 3, 4]))]
    excludes = tuple(dict.fromkeys(_exclude(rnd, base, paths) for _ in range(rnd.choice([0, 0, 1, 2, 3]))))
    return Snapshot(0, tuple(points), excludes)


def _point(rnd: random.Random, base: str, paths: list[str], limited: bool) -> PointSettings:
    path = rnd.choice(paths)
    folder = path[: path.rindex("/") + 1]
    root = rnd.choice(["/", "/", "/", "/", folder, "/x" if folder.startswith("/x") else folder])
    if rnd.random() < 0.05:
        base = base.replace("127.0.0.1", "localhost")
    point = PointSettings(id=0, url=base + path, root=base + root, depth=rnd.choice([0, 1, 2, 2, 3, 4, 5, 8, 50]))
    return replace(
        point,
        max_pages=rnd.choice([1, 2, 3, 5, 8, 13, 30]) if limited and rnd.random() < 0.7 else 0,
        obey_nofollow=rnd.random() < 0.3, drop_sessions=rnd.random() < 0.8, ignore_query=rnd.random() < 0.1,
        ignore_robots=rnd.random() < 0.15, stop_traps=rnd.random() < 0.8, merge_schemes=rnd.random() < 0.1,
    )  # fmt: skip


def _exclude(rnd: random.Random, base: str, paths: list[str]) -> str:
    path = rnd.choice(paths)
    return rnd.choice([base + path, base + path[:4] + "*", "*n=1*", r"regex:/x/z/[0-9]*[02468]\.html$", "*/y/*"])
