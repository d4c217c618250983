"""The tab Tree: the folders of the sites as a table that opens in place, and a picture of how pages were found."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from clearinghouse.access.policies import Action, doc_ids_for, may

from ..models import Run
from ..queries.counts import Docs
from ..queries.sites import Group, by_folder, by_site
from ..queries.tree import MOST, first_links
from .lists import choices_of
from .scope import number_in
from .tree_picture import picture_of

_OPEN_AT_ONCE = 20
_ROWS = 500


@dataclass(frozen=True, slots=True)
class Line:
    """A folder of the table."""

    group: Group
    level: int
    name: str
    opened: bool
    leaf: bool  # the pages of the folder above itself
    exclude: str  # the address that asks why it is to be left out
    toggle: str  # the address that opens or closes it
    focus: str
    pages_url: str
    errors_url: str
    found_url: str

    @property
    def indent(self) -> range:
        return range(self.level)


def tree(request: HttpRequest, run: Run, docs: Docs, context: dict[str, Any]) -> dict[str, Any]:
    doc_id = number_in(request, "doc")
    folder = request.GET.get("folder", "")[:2048]
    opened = list(dict.fromkeys(request.GET.getlist("open")))[:_OPEN_AT_ONCE]
    lines, cut = _lines(run, docs, _Asked(folder, tuple(opened), doc_id))
    nodes, all_nodes = first_links(run, docs, folder, doc_id)
    choices = choices_of(run, docs, context, doc_id)
    return {
        "lines": lines,
        "cut": cut,
        "folder": folder,
        "above": _above(folder),
        "doc_id": doc_id,
        "picture": picture_of(nodes),
        "nodes": len(nodes),
        "all_nodes": all_nodes,
        "most": MOST,
        **choices,
        **_leaving_out(request, choices["documents"], doc_id),
    }


def _leaving_out(request: HttpRequest, listed: list[tuple[int, str]], doc_id: int | None) -> dict[str, Any]:
    """The folder somebody wants to leave out, and the documents of which they may: one is chosen. A run over very
    many documents lists none: choose one on the Summary tab."""
    if not listed or not may(request.user, Action.EDIT):
        return {"leave_out": "", "mine": []}
    editable = doc_ids_for(request.user, Action.EDIT)
    mine = [(pk, title) for pk, title in listed if (editable is None or pk in editable) and doc_id in (None, pk)]
    return {"leave_out": request.GET.get("exclude", "")[:2000] if mine else "", "mine": mine}


@dataclass(frozen=True, slots=True)
class _Asked:
    folder: str
    opened: tuple[str, ...]
    doc_id: int | None

    def query(self, **changes: Any) -> str:
        asked = {"folder": self.folder, "opened": self.opened} | changes
        pairs = [("folder", asked["folder"])] if asked["folder"] else []
        pairs += [("open", one) for one in asked["opened"]]
        pairs += [("doc", str(self.doc_id))] if self.doc_id is not None else []
        pairs += [("exclude", asked["exclude"])] if "exclude" in asked else []
        return "?" + urlencode(pairs)


def _lines(run: Run, docs: Docs, asked: _Asked) -> tuple[list[Line], bool]:
    """The rows of the table, children below their folder; no more than a page can show."""

    def below(folder: str, level: int) -> list[tuple[Group, int, str]]:
        groups = by_folder(run, docs, folder, asked.doc_id) if folder else by_site(run, docs, asked.doc_id)
        return [(group, level, folder) for group in reversed(groups)]

    lines: list[Line] = []
    waiting = below(asked.folder, 0)
    queries = 0
    while waiting and len(lines) < _ROWS:
        line = _line(run, *waiting.pop(), asked)
        lines.append(line)
        if line.opened and queries < _OPEN_AT_ONCE:
            queries += 1
            waiting += below(line.group.start, line.level + 1)
    return lines, bool(waiting)


def _line(run: Run, group: Group, level: int, parent: str, asked: _Asked) -> Line:
    """A group that has the name of the folder it is in: the pages of that folder itself."""
    leaf = group.start == parent
    opened = group.start in asked.opened and not leaf
    rest = tuple(one for one in asked.opened if one != group.start)
    return Line(
        group=group,
        level=level,
        name="right here" if leaf else group.start.removeprefix(parent),
        opened=opened,
        leaf=leaf,
        exclude=f"{asked.query(exclude=group.start)}#leave-out",
        toggle=asked.query(opened=rest if opened else (*asked.opened, group.start)),
        focus=asked.query(folder=group.start, opened=()),
        pages_url=_door(run, group, ("crawled", "unchanged"), asked, leaf),
        errors_url=_door(run, group, ("failed",), asked, leaf),
        found_url=_door(run, group, (), asked, leaf),
    )


def _door(run: Run, group: Group, outcomes: tuple[str, ...], asked: _Asked, leaf: bool) -> str:
    pairs = [("outcome", one) for one in outcomes] + [("site", group.start)]
    pairs += [("here", "1")] if leaf else []
    pairs += [("doc", str(asked.doc_id))] if asked.doc_id is not None else []
    return f"{reverse('run-tab', args=[run.pk, 'urls'])}?{urlencode(pairs)}"


def _above(folder: str) -> str:
    """The folder that holds this one; empty for a site."""
    inner = folder.rstrip("/")
    cut = inner.rfind("/")
    return inner[: cut + 1] if cut >= len("https://") else ""
