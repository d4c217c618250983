"""The tab Tree: the folders of the sites as a table that opens in place, and a picture of how pages were found."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from clearinghouse.accounts.policies import Action, doc_ids_for, may
from clearinghouse.web.listing import number_in
from clearinghouse.web.templatetags.formats import plural
from crawler.ledger.page_tree import MOST, first_links
from crawler.ledger.queries import Filter
from crawler.ledger.site_folders import SiteFolder, by_folder, by_site
from crawler.models import Run

from ..run_counts import Docs, excursions_of
from .address_lists import choices_of
from .tree_picture import picture_of

_OPEN_AT_ONCE = 20
_OPEN_AT_FIRST = 3
_ROWS = 500
_OUTSIDE = "outside "  # before the folder (or nothing, for the sites) whose outside part is open


@dataclass(frozen=True, slots=True)
class TreeLine:
    """A folder of the table, or all that is outside in one."""

    group: SiteFolder
    level: int
    name: str
    opened: bool
    leaf: bool  # the pages of the folder above itself
    several: bool  # what is outside, in one line
    exclude: str  # the address that asks why it is to be left out; empty for what is outside: it is out already
    toggle: str  # the address that opens or closes it
    focus: str
    pages_url: str
    errors_url: str
    found_url: str

    @property
    def indent(self) -> range:
        return range(self.level)


def tree(request: HttpRequest, run: Run, docs: Docs, context: dict[str, Any]) -> dict[str, Any]:
    doc_id = number_in(request.GET, "doc")
    folder = request.GET.get("folder", "")[:2048]
    opened = [one for one in dict.fromkeys(request.GET.getlist("open")) if one][:_OPEN_AT_ONCE]
    folders = _Folders(run, docs, doc_id)
    if "open" not in request.GET:
        opened = folders.where_there_is_one_way(folder)
    lines, cut = _lines(folders, _Asked(folder, tuple(opened), doc_id))
    nodes, all_nodes = first_links(run, docs, folder, doc_id)
    choices = choices_of(run, docs, context, Filter(doc_id=doc_id))
    return {
        "lines": lines,
        "cut": cut,
        "folder": folder,
        "above": _above(folder),
        "doc_id": doc_id,
        "picture": picture_of(nodes),
        "nodes": sum(not node.elsewhere for node in nodes),
        "all_nodes": all_nodes,
        "most": MOST,
        **choices,
        **_leaving_out(request, run, docs, choices["documents"]),
    }


def _leaving_out(request: HttpRequest, run: Run, docs: Docs, listed: list[tuple[int, str]]) -> dict[str, Any]:
    """The folder somebody wants to leave out, and the documents of which they may: one is chosen. A run over very
    many documents lists none: choose one on the Summary tab."""
    if not listed or not may(request.user, Action.EDIT):
        return {"leave_out": "", "mine": []}
    editable, doc_id = doc_ids_for(request.user, Action.EDIT), number_in(request.GET, "doc")
    mine = [(pk, title) for pk, title in listed if (editable is None or pk in editable) and doc_id in (None, pk)]
    folder = request.GET.get("exclude", "")[:2000] if mine else ""
    if folder and len(mine) > 1:
        concerned = _with_roots_at(run, docs, folder)
        mine = [(pk, title) for pk, title in mine if pk in concerned] or mine
    return {"leave_out": folder, "mine": mine}


def _with_roots_at(run: Run, docs: Docs, folder: str) -> set[int]:
    """The documents with a root string above the folder, or in it: the others never fetch anything there."""
    place, concerned = folder.partition("://")[2], set()
    for doc_id, snapshot in excursions_of(run, docs).values_list("doc_id", "snapshot"):
        roots = [str(point["root"]).partition("://")[2] for point in (snapshot or {}).get("points", [])]
        if any(place.startswith(root) or root.startswith(place) for root in roots):
            concerned.add(doc_id)
    return concerned


@dataclass(frozen=True, slots=True)
class _Asked:
    folder: str
    opened: tuple[str, ...]
    doc_id: int | None

    def query(self, **changes: Any) -> str:
        asked = {"folder": self.folder, "opened": self.opened} | changes
        pairs = [("folder", asked["folder"])] if asked["folder"] else []
        # Without any `open` it would open by itself again.
        pairs += [("open", one) for one in asked["opened"] or [""]]
        pairs += [("doc", str(self.doc_id))] if self.doc_id is not None else []
        pairs += [("exclude", asked["exclude"])] if "exclude" in asked else []
        return "?" + urlencode(pairs)

    def toggle(self, name: str) -> str:
        rest = tuple(one for one in self.opened if one != name)
        return self.query(opened=rest if name in self.opened else (*self.opened, name))


class _Folders:
    """What is right below each folder, asked once: what crawl points may fetch first, then what is outside."""

    def __init__(self, run: Run, docs: Docs, doc_id: int | None) -> None:
        self.run, self._docs, self._doc_id = run, docs, doc_id
        self._known: dict[str, tuple[list[SiteFolder], list[SiteFolder]]] = {}

    def below(self, folder: str) -> tuple[list[SiteFolder], list[SiteFolder]]:
        if folder not in self._known:
            place = self.run, self._docs
            groups = by_folder(*place, folder, self._doc_id) if folder else by_site(*place, self._doc_id)
            inside = [group for group in groups if not group.is_outside]
            self._known[folder] = inside, [group for group in groups if group.is_outside]
        return self._known[folder]

    def where_there_is_one_way(self, folder: str) -> list[str]:
        """The only site and the only folders below it, down to where they part, are open at first."""
        opened: list[str] = []
        while len(opened) < _OPEN_AT_FIRST:
            inside = [group.start for group in self.below(folder)[0] if group.start != folder]
            if len(inside) != 1:
                break
            opened.append(folder := inside[0])
        return opened


def _lines(folders: _Folders, asked: _Asked) -> tuple[list[TreeLine], bool]:
    """The rows of the table, children below their folder; no more than a page can show."""
    lines: list[TreeLine] = []
    waiting = _below(folders, asked, asked.folder, 0)
    queries = 0
    while waiting and len(lines) < _ROWS:
        line = waiting.pop()
        lines.append(line)
        if not line.opened:
            continue
        if line.several:
            parent = line.group.start.removeprefix(_OUTSIDE)
            outside = folders.below(parent)[1]
            waiting += [_line(folders.run, group, line.level + 1, parent, asked) for group in reversed(outside)]
        elif queries < _OPEN_AT_ONCE:
            queries += 1
            waiting += _below(folders, asked, line.group.start, line.level + 1)
    return lines, bool(waiting)


def _below(folders: _Folders, asked: _Asked, folder: str, level: int) -> list[TreeLine]:
    """The last one first."""
    inside, outside = folders.below(folder)
    lines = [_outside(outside, level, folder, asked)] if outside else []
    return lines + [_line(folders.run, group, level, folder, asked) for group in reversed(inside)]


def _outside(groups: list[SiteFolder], level: int, parent: str, asked: _Asked) -> TreeLine:
    found, start = sum(group.found for group in groups), _OUTSIDE + parent
    name = f"Outside the root string: {plural(len(groups), 'folder' if parent else 'site')}"
    return TreeLine(
        group=SiteFolder(start, found=found, outside=found), level=level, name=name, opened=start in asked.opened,
        leaf=False, several=True, exclude="", toggle=asked.toggle(start), focus="", pages_url="", errors_url="",
        found_url="",
    )  # fmt: skip


def _line(run: Run, group: SiteFolder, level: int, parent: str, asked: _Asked) -> TreeLine:
    """A group that has the name of the folder it is in: the pages of that folder itself."""
    leaf = group.start == parent
    return TreeLine(
        group=group,
        level=level,
        name="right here" if leaf else group.start.removeprefix(parent),
        opened=group.start in asked.opened and not leaf,
        leaf=leaf,
        several=False,
        exclude="" if group.is_outside else asked.query(exclude=group.start),
        toggle=asked.toggle(group.start),
        focus=asked.query(folder=group.start, opened=()),
        pages_url=_door(run, group, ("crawled", "unchanged"), asked, leaf),
        errors_url=_door(run, group, ("failed",), asked, leaf),
        found_url=_door(run, group, (), asked, leaf),
    )


def _door(run: Run, group: SiteFolder, outcomes: tuple[str, ...], asked: _Asked, leaf: bool) -> str:
    pairs = [("outcome", one) for one in outcomes] + [("site", group.start)]
    pairs += [("here", "1")] if leaf else []
    pairs += [("doc", str(asked.doc_id))] if asked.doc_id is not None else []
    return f"{reverse('run-tab', args=[run.pk, 'urls'])}?{urlencode(pairs)}"


def _above(folder: str) -> str:
    """The folder that holds this one; empty for a site."""
    inner = folder.rstrip("/")
    cut = inner.rfind("/")
    return inner[: cut + 1] if cut >= len("https://") else ""
