"""A tree of pages as points and lines of an SVG: one column for each depth, one line for each leaf. Pure."""

from dataclasses import dataclass

from ..queries.tree import Node

_COLUMN = 120
_LEAF = 10
_MARGIN = 12


@dataclass(frozen=True, slots=True)
class Dot:
    id: int
    url: str
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Line:
    x1: int
    y1: int
    x2: int
    y2: int


@dataclass(frozen=True, slots=True)
class Picture:
    width: int
    height: int
    dots: list[Dot]
    lines: list[Line]
    title: str


def picture_of(nodes: list[Node]) -> Picture | None:
    """None when there is nothing to draw."""
    if len(nodes) < 2:
        return None
    children = _children(nodes)
    columns = {depth: number for number, depth in enumerate(sorted({node.depth for node in nodes}))}
    heights = _heights(children)
    place = {
        node.key: (_MARGIN + _COLUMN * columns[node.depth], _MARGIN + int(_LEAF * heights[node.key])) for node in nodes
    }
    dots = [Dot(node.id, node.url, *place[node.key]) for node in nodes]
    lines = [
        Line(*place[node.parent], *place[node.key])
        for node in nodes
        if node.parent is not None and node.parent in place and node.parent != node.key
    ]
    return Picture(
        width=2 * _MARGIN + _COLUMN * (len(columns) - 1),
        height=2 * _MARGIN + int(_LEAF * max(heights.values())),
        dots=dots,
        lines=lines,
        title=f"{len(nodes)} pages, each beside the page it was found on; {len(columns)} depths from left to right",
    )


_Key = tuple[int, bytes]


def _children(nodes: list[Node]) -> dict[_Key | None, list[_Key]]:
    """Under each page those found on it; what was found on a page that is not shown stands at the left."""
    depth_of = {node.key: node.depth for node in nodes}
    children: dict[_Key | None, list[_Key]] = {None: []}
    for node in nodes:
        # A page found by a redirect may have the depth of its parent: a circle must not swallow the tree.
        known = node.parent is not None and depth_of.get(node.parent, node.depth) < node.depth
        children.setdefault(node.parent if known else None, []).append(node.key)
    return children


def _heights(children: dict[_Key | None, list[_Key]]) -> dict[_Key, float]:
    """Each leaf has a line of its own, each page the middle of its children; no recursion: chains may be long."""
    heights: dict[_Key, float] = {}
    free = 0
    stack: list[tuple[_Key, bool]] = [(key, False) for key in reversed(children[None])]
    while stack:
        key, done = stack.pop()
        below = children.get(key, [])
        if done:
            heights[key] = (heights[below[0]] + heights[below[-1]]) / 2
        elif below:
            stack.append((key, True))
            stack += [(child, False) for child in reversed(below)]
        else:
            heights[key] = free
            free += 1
    return heights
