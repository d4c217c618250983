"""Lists of runs, and the excursions of one run."""

from collections.abc import Sequence

from django.db.models import Count, Exists, F, Max, OuterRef, QuerySet

from clearinghouse.web.listing import order_by

from ..models import Event, Excursion, Hold, Instance, Run, State
from .latest_crawls import ENDED, complete_crawls, newest
from .run_counts import Docs, excursions_of, left_behind
from .run_status import limits_met, place_of, place_of_state

_COMPARED = 200  # crawls of a document
_BITS = 63  # of a number that a database knows
ASKED = "asked"  # the kind of event with which people ask for what they may not do
NOW, WAITING, FINISHED = "now", "waiting", "finished"
BUSY_STATES = (State.RUNNING, State.PAUSED, State.INTERRUPTED, State.STOPPING)
TABS = {NOW: BUSY_STATES, WAITING: (State.WAITING,), FINISHED: ENDED}

SORTS = {"title": "title", "state": ("place", "title"), "pages": "pages", "skipped": "skipped", "failed": "failed"}


def visible_runs(docs: Docs) -> QuerySet[Run]:
    """The runs that hold at least one of these documents."""
    if docs is None:
        return Run.objects.all()
    return Run.objects.filter(pk__in=Excursion.objects.filter(doc_id__in=docs).values("run_id"))


def visible_run(docs: Docs, run_id: int) -> Run | None:
    """One of them. Plain SQL: every poll asks it, and putting the query together took ten times as long as asking."""
    if run_id.bit_length() > _BITS:
        return None
    run = next(iter(Run.objects.raw("SELECT * FROM run WHERE id = %s", [run_id])), None)
    if run is None or docs is None:
        return run
    return run if excursions_of(run, docs).exists() else None


def runs_in(tab: str, docs: Docs, label: str = "") -> QuerySet[Run]:
    runs = visible_runs(docs).filter(state__in=TABS[tab]).order_by("-id")
    return runs.filter(label=label) if label else runs


def labels_of(docs: Docs, tab: str = "", most: int = 20) -> list[tuple[str, int]]:
    """The labels people gave, with how many runs have each (of a tab); the most frequent ones, by name."""
    runs = visible_runs(docs).exclude(label="")
    runs = runs.filter(state__in=TABS[tab]) if tab else runs
    rows = runs.values_list("label").annotate(n=Count("id")).order_by("-n", "label")[:most]
    return sorted(rows, key=lambda row: row[0].casefold())


def counts_by_tab(docs: Docs) -> dict[str, int]:
    rows = visible_runs(docs).values_list("state").annotate(n=Count("id")).order_by()
    by_state = dict(rows)
    return {tab: sum(by_state.get(state, 0) for state in states) for tab, states in TABS.items()}


def documents_before(run: Run) -> list[int]:
    """The excursions of a run that wait, in the order in which they are taken."""
    rows = Excursion.objects.filter(run=run, state=State.WAITING, unfinished=True).order_by("id")
    return list(rows.values_list("id", flat=True))


def waiting_before(runs: list[Run]) -> dict[int, int]:
    """Of each waiting run, how many that wait too were asked for before it."""
    if not any(run.state == State.WAITING for run in runs):
        return {}
    ids = list(Run.objects.filter(state=State.WAITING, control="").order_by("id").values_list("id", flat=True))
    return {pk: place for place, pk in enumerate(ids)}


def last_finished(docs: Docs) -> Run | None:
    return visible_runs(docs).filter(finished_at__isnull=False).order_by("-finished_at").first()


def runs_to_compare(run: Run, docs: Docs, most: int = 20) -> list[Run]:
    """The newest other runs that crawled a document of this one, each with whether it did so to the end: `whole`."""
    doc_ids = excursions_of(run, docs).values("doc_id")
    others = Excursion.objects.filter(doc_id__in=doc_ids).exclude(run=run).values("run_id")
    whole = Exists(complete_crawls().filter(doc_id__in=doc_ids, run=OuterRef("pk")))
    return list(Run.objects.filter(pk__in=others).annotate(whole=whole).order_by("-id")[:most])


def crawls_before(shown: Sequence[Excursion]) -> list[Excursion | None]:
    """For each of these crawls of one document, newest first: what it is compared with, the complete one before it."""
    if not shown:
        return []
    complete = complete_crawls().filter(doc_id=shown[0].doc_id, pk__lt=shown[0].pk).order_by("-id")
    known = list(complete.defer("snapshot", "tallies", "error")[:_COMPARED])
    return [next((other for other in known if other.pk < one.pk), None) for one in shown]


def requests_of(run: Run) -> list[Event]:
    """What people asked an administrator to do with this run."""
    return list(Event.objects.filter(run=run, kind=ASKED).order_by("id")[:20])


def hold_of(run: Run) -> str:
    """What holds a paused run back: quiet, pause; empty when a person paused it."""
    return Hold.objects.filter(run=run).values_list("reason", flat=True).first() or ""


def documents_of(run: Run, docs: Docs, group: str = "", sort: str = "state") -> QuerySet[Excursion]:
    """The excursions of a run for its table; `group` is one of TABS, a leading minus in `sort` turns it around."""
    pages = F("crawled") + F("unchanged")
    rows = excursions_of(run, docs).annotate(pages=pages, place=place_of_state(), left=left_behind())
    if group in TABS:
        rows = rows.filter(state__in=TABS[group])
    return rows.defer("snapshot", "tallies", "error").order_by(*order_by(sort, SORTS, "state"), "id")


def documents_by_tab(run: Run, docs: Docs) -> dict[str, int]:
    rows = excursions_of(run, docs).values_list("state").annotate(n=Count("id")).order_by()
    by_state = dict(rows)
    return {tab: sum(by_state.get(state, 0) for state in states) for tab, states in TABS.items()}


def excursions_of_document(doc_id: int, state: str = "") -> QuerySet[Excursion]:
    """Every crawl of a document, newest first."""
    rows = Excursion.objects.filter(doc_id=doc_id).order_by("-id").select_related("run")
    rows = rows.annotate(limits=limits_met(), left=left_behind())
    rows = rows.filter(state=state) if state else rows
    return rows.defer("snapshot", "tallies", "error")


def states_of_document(doc_id: int) -> dict[str, int]:
    """How many of its crawls ended, or are, in each state."""
    rows = Excursion.objects.filter(doc_id=doc_id).values_list("state").annotate(n=Count("id")).order_by()
    return dict(sorted(rows, key=lambda row: place_of(row[0])))


def faults_of(run: Run, docs: Docs) -> list[tuple[str, str]]:
    """Documents that met a fault of ours, each with the last line of its traceback."""
    rows = excursions_of(run, docs).exclude(error="").values_list("title", "error")[:20]
    return [(title, (error.strip().splitlines() or [""])[-1]) for title, error in rows]


def instances_of(run: Run) -> int:
    return Instance.objects.filter(run=run, alive=True).count()


def events_of(run: Run, docs: Docs, kind: str = "", text: str = "") -> QuerySet[Event]:
    """The log, newest first; events of documents a person may not see are left out."""
    rows = Event.objects.filter(run=run).order_by("-id")
    if docs is not None:
        rows = rows.exclude(doc_id__isnull=False) | rows.filter(doc_id__in=docs)
    if kind:
        rows = rows.filter(kind=kind)
    return rows.filter(text__icontains=text) if text else rows


def kinds_of_events(run: Run, docs: Docs) -> dict[str, int]:
    rows = events_of(run, docs).values_list("kind").annotate(n=Count("id")).order_by("kind")
    return dict(rows)


def last_event(run: Run) -> int:
    return Event.objects.filter(run=run).aggregate(last=Max("id"))["last"] or 0


def latest_crawls(doc_ids: list[int]) -> dict[int, Excursion]:
    """Of each document the newest crawl, whether it goes on or however it ended, with the limits it met."""
    rows = newest(Excursion.objects.filter(doc_id__in=doc_ids, part=""))
    rows = rows.annotate(limits=limits_met()).defer("snapshot", "tallies", "error")
    return {row.doc_id: row for row in rows}


def waiting_documents() -> int:
    return Excursion.objects.filter(state=State.WAITING).count()


def live_instances() -> int:
    return Instance.objects.filter(alive=True, kind="crawl").count()


def runs_crawling(doc_ids: list[int]) -> list[tuple[int, int]]:
    """Which unfinished runs hold these documents, and how many each."""
    rows = Excursion.objects.filter(unfinished=True, doc_id__in=doc_ids).values_list("run_id")
    return list(rows.annotate(n=Count("id")).order_by("run_id"))
