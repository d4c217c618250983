"""How runs stand beyond what their own rows say: which documents rest or go on, who paused them, which limit was met,
what holds them up. A few queries for a whole list of runs; `Standing` itself is a plain value.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlsplit

from django.db.models import Case, Count, F, IntegerField, Q, Sum, Value, When

from clearinghouse.web.plurals import plural

from ..models import OPEN_STATES, STATE_ORDER, Event, Excursion, HostService, Run, State
from ..sites.queries import Awaited, awaited
from .latest_crawls import KEPT
from .run_counts import Docs, excursions_of

_TOLD = ("pause", "interrupted")  # kinds of events
_ORDERS = {State.STOPPED: "stop", State.CANCELLED: "cancel"}  # the kind of event that led to this end
_LIMITS = {"page_limit": "maximum pages", "run_limit": "the run's limit"}
_AND = " and "


@dataclass(frozen=True, slots=True)
class Standing:
    documents: Counter[str] = field(default_factory=Counter)  # by state, while the run is open
    begun: bool = False  # something was fetched
    paused_by: str = ""
    interruptions: int = 0
    limits: str = ""  # which were met, in words
    slow: str = ""  # what holds it up
    awaited: Awaited = field(default_factory=Awaited)
    ended_by: str = ""  # who stopped or cancelled it
    ended_at: datetime | None = None
    kept: int = 0  # documents that had finished before the run was cancelled
    limit_elsewhere: bool = False  # if one was met, then by documents that this person does not see

    @property
    def interrupted(self) -> bool:
        """Whoever served it died, and nobody has taken over yet."""
        return bool(self.documents[State.INTERRUPTED]) and not self.documents[State.RUNNING]


PLAIN = Standing()


def standing_of(run: Run, reasons: Mapping[str, int], docs: Docs) -> Standing:
    """Of one run whose reasons were summed up already; without what holds it up, which its page knows better."""
    documents, begun = _documents([run]).get(run.pk, (Counter(), False))
    by, times = _told([run]).get(run.pk, ("", 0))
    limits = limits_in(reasons)
    person, at = _ended_by(run)
    return Standing(
        documents, begun, by, times, limits, awaited=awaited_of(run, docs, documents), ended_by=person, ended_at=at,
        kept=_kept(run, docs),
        limit_elsewhere=docs is not None and not limits,
    )  # fmt: skip


def awaited_of(run: Run, docs: Docs, documents: Container[str]) -> Awaited:
    """Of documents that a person may not see nothing is counted."""
    waits = docs is None and run.state in (State.PAUSED, State.STOPPING) and State.RUNNING in documents
    return awaited(run) if waits else Awaited()


def standings(runs: Sequence[Run], docs: Docs, now: datetime) -> dict[int, Standing]:
    """Of a list of runs."""
    documents, told, limits = _documents(runs), _told(runs), _limits(runs, docs)
    slow = _slow(runs, now) if docs is None else {}  # sites of documents a person may not see are not named
    return {
        run.pk: Standing(
            *documents.get(run.pk, (Counter(), False)),
            *told.get(run.pk, ("", 0)),
            limits=limits.get(run.pk, ""),
            slow=slow_words(slow.get(run.pk, {})),
            limit_elsewhere=docs is not None and not limits.get(run.pk),
        )
        for run in runs
    }


def limits_in(reasons: Mapping[str, int]) -> str:
    return _AND.join(words for code, words in _LIMITS.items() if reasons.get(code))


def limits_met() -> Case:
    """For a query of excursions: which limits cut them off, in words."""
    pages, runs = Q(tallies__reason__has_key="page_limit"), Q(tallies__reason__has_key="run_limit")
    return Case(
        When(pages & runs, then=Value(_AND.join(_LIMITS.values()))),
        When(pages, then=Value(_LIMITS["page_limit"])),
        When(runs, then=Value(_LIMITS["run_limit"])),
        default=Value(""),
    )


def place_of(state: str) -> int:
    """Where a state stands in a list that is sorted by it; what was never crawled comes last."""
    return STATE_ORDER.index(State(state)) if state in STATE_ORDER else len(STATE_ORDER)


def place_of_state() -> Case:
    """The same for a query of runs or excursions."""
    places = [When(state=state, then=Value(place)) for place, state in enumerate(STATE_ORDER)]
    return Case(*places, output_field=IntegerField())


def slow_words(sites: Mapping[str, str]) -> str:
    """Why a run is slow: origins of sites, each with what it does."""
    if len(sites) > 1:
        return f"{plural(len(sites), 'site holds,sites hold')} it up"
    return "".join(f"{urlsplit(origin).netloc} {does}" for origin, does in sites.items())


def slow_word(wait_until: float, failing_since: float, now: float) -> str:
    """How a site holds a run up; empty when it does not."""
    if failing_since:
        return "does not answer"
    return "asked to wait" if wait_until > now + 1 else ""


def _documents(runs: Iterable[Run]) -> dict[int, tuple[Counter[str], bool]]:
    """Documents by state, and whether anything was fetched, of the runs that are open."""
    unfinished = [run.pk for run in runs if run.state in OPEN_STATES]
    if not unfinished:
        return {}
    done = Sum(F("crawled") + F("unchanged") + F("redirected") + F("failed"))
    rows = Excursion.objects.filter(run__in=unfinished).values_list("run_id", "state").annotate(n=Count("id"), d=done)
    found: dict[int, tuple[Counter[str], bool]] = {}
    for run_id, state, number, fetched in rows.order_by():
        states, begun = found.get(run_id, (Counter(), False))
        found[run_id] = states + Counter({state: number}), begun or bool(fetched)
    return found


def _told(runs: Iterable[Run]) -> dict[int, tuple[str, int]]:
    """By whom it was paused last ("by anna"), and how often it was interrupted."""
    unfinished = [run.pk for run in runs if run.state in OPEN_STATES]
    if not unfinished:
        return {}
    rows = Event.objects.filter(run__in=unfinished, doc_id=None, kind__in=_TOLD).order_by("id")
    found: dict[int, tuple[str, int]] = {}
    for run_id, kind, text in rows.values_list("run_id", "kind", "text"):
        by, times = found.get(run_id, ("", 0))
        if kind == "pause":
            by = f"by {text.partition(' by ')[2]}" if " by " in text else ""
        else:
            times += 1
        found[run_id] = by, times
    return found


def _ended_by(run: Run) -> tuple[str, datetime | None]:
    """Who asked for its early end, and when: "Cancelling; its results are discarded (anna)"."""
    if run.state not in _ORDERS:
        return "", None
    rows = Event.objects.filter(run=run, doc_id=None, kind=_ORDERS[State(run.state)]).order_by("-id")
    text, at = rows.values_list("text", "at").first() or ("", None)
    return text.rpartition(" (")[2].removesuffix(")"), at


def _kept(run: Run, docs: Docs) -> int:
    return excursions_of(run, docs).filter(state__in=KEPT).count() if run.state == State.CANCELLED else 0


def _limits(runs: Iterable[Run], docs: Docs) -> dict[int, str]:
    cut = [run.pk for run in runs if run.state == State.FINISHED_AT_LIMIT]
    if not cut:
        return {}
    rows = Excursion.objects.filter(run__in=cut, state=State.FINISHED_AT_LIMIT).annotate(limits=limits_met())
    rows = rows if docs is None else rows.filter(doc_id__in=docs)
    found: dict[int, set[str]] = {}
    for run_id, limits in rows.order_by().values_list("run_id", "limits").distinct():
        found.setdefault(run_id, set()).update(limits.split(_AND))
    words = _LIMITS.values()
    return {run_id: _AND.join(word for word in words if word in met) for run_id, met in found.items()}


def _slow(runs: Iterable[Run], now: datetime) -> dict[int, dict[str, str]]:
    """The sites that hold each running run up."""
    running = [run.pk for run in runs if run.state == State.RUNNING]
    if not running:
        return {}
    at = now.timestamp()
    held = Q(host__failing_since__gt=0) | Q(host__wait_until__gt=at + 1)
    rows = HostService.objects.filter(held, instance__run__in=running, instance__alive=True).order_by("host_id")
    found: dict[int, dict[str, str]] = {}
    columns = ("instance__run_id", "host__origin", "host__wait_until", "host__failing_since")
    for run_id, origin, wait_until, failing_since in rows.values_list(*columns):
        found.setdefault(run_id, {})[origin] = slow_word(wait_until, failing_since, at)
    return found
