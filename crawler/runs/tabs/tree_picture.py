"""How pages were found, as lists within lists that open in place: each page under the page it was found on. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from crawler.ledger.page_tree import Node

_DEEPEST = 8  # lists within lists; what is found deeper stands in the last one, with its depth
_AT_FIRST = 30  # lines that are seen before anything is opened

_Key = tuple[int, bytes]


@dataclass(frozen=True, slots=True)
class Branch:
    """A line: a page, and what opens below it."""

    node: Node
    level: int
    path: str  # the address, without the site where all pages are of one
    found: int  # pages found on it
    below: int  # those, and what was found on them
    opened: bool
    begins: bool  # a list of what was found on it follows
    ends: range  # lists that end behind it
    remark: str  # what its place does not tell


def picture_of(nodes: list[Node]) -> list[Branch]:
    """Empty when there is nothing to see."""
    if len(nodes) < 2:
        return []
    known = {node.key: node for node in nodes}
    children = _children(nodes)
    lines = list(_in_order(children))
    below = _below(lines, children)
    opened = _opened_at_first(children)
    sites = {_site_of(node.url) for node in nodes}
    site = sites.pop() if len(sites) == 1 else ""
    one_more = {child: known[key].depth + 1 for key, found in children.items() if key for child in found}
    following = [level for _, level in lines[1:]] + [0]
    return [
        Branch(
            node=known[key],
            level=level,
            path=known[key].url.removeprefix(site),
            found=len(children.get(key, ())),
            below=below[key],
            opened=key in opened,
            begins=after > level,
            ends=range(level - after),
            remark=_remark(known[key].depth, one_more.get(key) if level < _DEEPEST else None),
        )
        for (key, level), after in zip(lines, following, strict=True)
    ]


def _remark(depth: int, expected: int | None) -> str:
    """The depth where it is not one more than that of the page above: a nearer way may have been found later."""
    if not depth:
        return "crawl point"
    return "" if depth == expected else f"depth {depth}"


def _site_of(url: str) -> str:
    """Without the slash: it begins the path."""
    return url[: url.find("/", len("https://"))]


def _children(nodes: list[Node]) -> dict[_Key | None, list[_Key]]:
    """Under each page those found on it; what was found on a page that is not shown stands at the left."""
    parents: dict[_Key, _Key | None] = {node.key: None for node in nodes}
    children: dict[_Key | None, list[_Key]] = {None: []}
    for node in nodes:
        if node.parent in parents and not _leads_to(parents, node.parent, node.key):
            parents[node.key] = node.parent
        children.setdefault(parents[node.key], []).append(node.key)
    return children


def _leads_to(parents: dict[_Key, _Key | None], start: _Key | None, key: _Key) -> bool:
    """Whether a page is above another one: a circle must not swallow the tree."""
    while start is not None and start != key:
        start = parents[start]
    return start == key


def _in_order(children: dict[_Key | None, list[_Key]]) -> Iterator[tuple[_Key, int]]:
    """Each page with its level, what was found on it right behind it; no recursion: chains may be long."""
    stack = [(key, 0) for key in reversed(children[None])]
    while stack:
        key, level = stack.pop()
        yield key, level
        stack += [(child, min(level + 1, _DEEPEST)) for child in reversed(children.get(key, []))]


def _below(lines: list[tuple[_Key, int]], children: dict[_Key | None, list[_Key]]) -> dict[_Key, int]:
    counts: dict[_Key, int] = {}
    for key, _ in reversed(lines):
        counts[key] = sum(1 + counts[child] for child in children.get(key, ()))
    return counts


def _opened_at_first(children: dict[_Key | None, list[_Key]]) -> set[_Key]:
    """From the left, what does not make the picture long."""
    opened, waiting = set(), list(children[None])
    seen = len(waiting)
    for key in waiting:  # grows
        found = children.get(key, [])
        if found and seen + len(found) <= _AT_FIRST:
            opened.add(key)
            seen += len(found)
            waiting += found
    return opened
