"""Propagation: what is live where, and how each generation came to each server."""

from collections import Counter
from datetime import datetime
from typing import Any

from django.db import DatabaseError
from django.urls import reverse

from clearinghouse.database.aliases import TARGETS
from clearinghouse.search import backends
from clearinghouse.web.listing import in_order
from clearinghouse.web.templatetags.formats import duration, plural, when
from crawler.models import PropagationStep
from crawler.propagation import generations, plan
from crawler.propagation.loading import load
from crawler.propagation.views.step_board import NAMES, not_public

from ..report_base import Column, Report, ReportCell, ReportRequest

COLUMNS = (
    Column("server", "Server"),
    Column("generation", "Generation", num=True),
    Column("stands", "Shown"),
    Column("pages", "Pages", num=True),
    Column("added", "Added", num=True),
    Column("changed", "Changed", num=True),
    Column("removed", "Removed", num=True),
    Column("index", "Index"),
    Column("began", "Began", fit=True),
    Column("ended", "Shown since", fit=True),
    Column("seconds", "Took", num=True),
)
SHOWN = (("", "All"), ("live", "Live"), ("kept", "Kept for a rollback"), ("gone", "Removed"), ("never", "Not shown"))
_WORDS = dict(SHOWN) | {"away": "Server does not answer"}
_KEYS: dict[str, Any] = {
    "server": lambda row: list(TARGETS).index(row["target"]),
    "generation": lambda row: (row["generation"], -list(TARGETS).index(row["target"])),
    "stands": lambda row: row["stands"],
    "index": lambda row: row["index"],
    "began": lambda row: _seconds(row["began"]),
    "ended": lambda row: _seconds(row["ended"]),
    "seconds": lambda row: row["seconds"] or 0.0,
    **{name: lambda row, name=name: row[name] or 0 for name in ("pages", "added", "changed", "removed")},
}


def report(asked: ReportRequest) -> Report:
    servers = [("", "All servers"), *NAMES.items()]
    server, by_server = asked.one_of("server", "Server", servers)
    stands, by_stands = asked.one_of("stands", "Shown", SHOWN)
    since, period = asked.since("365")
    rows = _rows(since)
    live = [row for row in rows if row["stands"] == "live"]
    rows = [row for row in rows if server in ("", row["target"]) and stands in ("", row["stands"])]
    sort = asked.sort(COLUMNS, "-generation")
    return Report(
        COLUMNS, in_order(rows, sort, _KEYS), lambda part: [_line(row) for row in part], "row", sort=sort,
        filters=(by_server, by_stands, period),
        sentence=_sentence(live), nothing="Nothing was propagated in this period.",
        extra={"who": "Project managers and administrators see this report, all of them the same rows."},
    )  # fmt: skip


def _rows(since: datetime) -> list[dict[str, Any]]:
    """A row for each server of each propagation, and for what is live though no propagation brought it."""
    fields = [f"counts__{name}" for name in ("pages", "added", "changed", "removed", "indexed", "from")]
    steps: dict[tuple[int, str], dict[str, dict[str, Any]]] = {}
    found = PropagationStep.objects.filter(target__in=TARGETS, propagation__created_at__gte=since)
    found = found.exclude(state__in=("waiting", "skipped"))
    for step in found.values("propagation_id", "target", "name", "state", "started_at", "finished_at", *fields):
        steps.setdefault((step["propagation_id"], step["target"]), {})[step["name"]] = step
    standing = {target: _standing(target) for target in TARGETS}
    rows = [_row(key, names, standing[key[1]]) for key, names in steps.items()]
    known = {(row["generation"], row["target"]) for row in rows}
    return rows + [
        _live(target, now)
        for target, now in standing.items()
        if now["live"] and (now["live"], target) not in known and not _older(target, now["live"])
    ]


def _older(target: str, generation: int) -> bool:
    """Whether a propagation before the period brought it."""
    return PropagationStep.objects.filter(propagation_id=generation, target=target, name=plan.LOAD).exists()


def _standing(target: str) -> dict[str, Any]:
    alias = TARGETS[target]
    try:
        live = load.live(alias)
        return {
            "live": live,
            "kept": generations.purged_below(target),
            "index": "ready" if backends.backend(alias).exists() else "not built",
            "pages": load.count(alias, live),
            "not_public": not_public(alias, live) if target == plan.DEVELOPMENT else 0,
        }
    except DatabaseError:
        return {"live": 0, "kept": 0, "index": "", "pages": 0, "away": True}


def _row(key: tuple[int, str], steps: dict[str, dict[str, Any]], now: dict[str, Any]) -> dict[str, Any]:
    generation, target = key
    loaded, switched = steps.get(plan.LOAD, {}), steps.get(plan.SWITCH, {})
    done = switched.get("state") == "done"
    began, ended = loaded.get("started_at"), switched.get("finished_at") if done else None
    counted = {name: loaded.get(f"counts__{name}") for name in ("pages", "added", "changed", "removed")}
    return counted | {
        "generation": generation, "target": target, "began": began, "ended": ended,
        "seconds": (ended - began).total_seconds() if began and ended else None,
        "stands": _stands(generation, done, now), "index": _index(generation, steps, now),
        "not_public": now.get("not_public", 0) if generation == now["live"] else 0,
    }  # fmt: skip


def _stands(generation: int, done: bool, now: dict[str, Any]) -> str:
    if now.get("away"):
        return "away"
    if not done:
        return "never"
    if generation == now["live"]:
        return "live"
    return "kept" if generation >= now["kept"] else "gone"


def _index(generation: int, steps: dict[str, dict[str, Any]], now: dict[str, Any]) -> str:
    step = steps.get(plan.INDEX, {})
    if generation == now["live"]:
        return str(now["index"])
    return f"{step['counts__indexed'] or 0:,} indexed" if step.get("state") == "done" else "not built"


def _live(target: str, now: dict[str, Any]) -> dict[str, Any]:
    return {
        "generation": now["live"], "target": target, "began": None, "ended": None, "seconds": None, "stands": "live",
        "index": now["index"], "pages": now["pages"], "added": None, "changed": None, "removed": None,
        "not_public": now["not_public"],
    }  # fmt: skip


def _line(row: dict[str, Any]) -> list[ReportCell]:
    board = reverse("propagation-board", args=[row["generation"]]) if row["began"] else ""
    return [
        ReportCell(NAMES[row["target"]]),
        ReportCell(row["generation"], board),
        ReportCell(_WORDS[row["stands"]], value=row["stands"], bad=row["stands"] == "away"),
        ReportCell(row["pages"], board, value="" if row["pages"] is None else None, sub=_hidden(row)),
        *(
            ReportCell(row[name], board, value="" if row[name] is None else None)
            for name in ("added", "changed", "removed")
        ),
        ReportCell(row["index"]),
        *(
            ReportCell(when(at) if at else None, value=at.isoformat() if at else "")
            for at in (row["began"], row["ended"])
        ),
        ReportCell(duration(row["seconds"]), value=row["seconds"] if row["seconds"] is not None else ""),
    ]


def _hidden(row: dict[str, Any]) -> str:
    """Why content development has more pages than the servers of the public."""
    return f"{row['not_public']:,} of them not public" if row["not_public"] else ""


def _seconds(moment: datetime | None) -> float:
    return moment.timestamp() if moment else 0.0


def _sentence(live: list[dict[str, Any]]) -> str:
    if not live:
        return "No server shows a generation of this period."
    groups: Counter[tuple[int, int]] = Counter()
    for row in live:
        groups[(row["generation"], row["pages"] or 0)] += 1
    parts = [
        f"generation {generation} with {plural(pages, 'page')} is live on {plural(count, 'server')}"
        for (generation, pages), count in groups.most_common()
    ]
    hidden = sum(row["not_public"] for row in live)
    staff = f"{plural(hidden, 'page')} of documents that are not public: on content development only."
    return f"{'; '.join(parts)}.".capitalize() + (f" {staff}" if hidden else "")
