"""The one sentence a run page opens with, and the words of its state. Pure."""

from datetime import datetime

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from clearinghouse.web.templatetags.formats import duration, number, on_day, plural
from crawler.models import ENDED_WORDS, OPEN_STATES, Run, State

from ..run_counts import Totals
from ..run_recap import Aftermath
from ..run_status import PLAIN, Standing

# What was asked of a run and has not happened yet.
PENDING = {"pause": "Pausing", "stop": "Stopping", "cancel": "Cancelling"}
NEEDING = "needs"  # the findings that need attention, in an address
_ORDINALS = {1: "st", 2: "nd", 3: "rd"}


def state_code(run: Run, standing: Standing = PLAIN) -> str:
    """The state to show: a run whose documents all wait for another instance is interrupted; a limit that only
    documents of others met is none."""
    if run.state == State.FINISHED_AT_LIMIT and standing.limit_elsewhere:
        return State.FINISHED
    return State.INTERRUPTED if run.state == State.RUNNING and standing.interrupted else run.state


def state_word(run: Run, standing: Standing = PLAIN) -> str:
    """The state in words, where one word does not say all: what was asked meanwhile, by whom, which limit, why slow."""
    if run.state == State.STOPPING:
        return "Cancelling" if run.control == "cancel" else ""
    if run.state == State.PAUSED:
        return _paused(standing)
    if run.state in OPEN_STATES:
        return _open_word(run, standing)
    if run.state == State.FINISHED_AT_LIMIT:
        return f"Finished at limit ({standing.limits})" if standing.limits else ""
    return ENDED_WORDS.get(State(run.state), "")


def _paused(standing: Standing) -> str:
    """Only when the last document rests."""
    if standing.documents[State.RUNNING]:
        return PENDING["pause"]
    return f"Paused ({standing.paused_by})" if standing.paused_by else ""


def _open_word(run: Run, standing: Standing) -> str:
    if run.state == State.WAITING:
        return ""
    if run.control in PENDING:
        return PENDING[run.control]
    if standing.interrupted:
        times = standing.interruptions
        return f"Interrupted, resuming ({times}{_ordinal(times)} time)" if times else "Interrupted, resuming"
    if standing.documents[State.WAITING] and not standing.documents[State.RUNNING]:
        return "Resuming" if standing.begun else "Starting"
    return f"Running slowly ({standing.slow})" if standing.slow else ""


def _ordinal(number: int) -> str:
    return "th" if number % 100 in (11, 12, 13) else _ORDINALS.get(number % 10, "th")


NOTHING = Aftermath()


def verdict(
    run: Run, sums: Totals, per_minute: int, now: datetime, aftermath: Aftermath = NOTHING, standing: Standing = PLAIN
) -> SafeString:
    """What happened, in one sentence; numbers that matter are strong."""
    documents = plural(sums.documents, "document")
    code = state_code(run, standing)
    if code == State.WAITING:
        return format_html(_WAITING.get(run.control, _WAITING[""]), documents)
    if code == State.RUNNING:
        return format_html("Crawling {}. {}{}.", documents, _progress(sums), _speed(per_minute))
    if code == State.PAUSED and standing.documents[State.RUNNING]:
        return format_html("{} {}.", _waits("Pausing", standing) or _PAUSING, _progress(sums))
    if code == State.STOPPING and any(standing.awaited):
        return format_html("{} {}.", _waits("Stopping", standing), _progress(sums))
    if code in (State.PAUSED, State.INTERRUPTED, State.STOPPING):
        return format_html("{} {}.", _HELD[State(code)], _progress(sums))
    return format_html("{}{}", _ended(run, code, sums, now, aftermath, standing), _attention(run, aftermath))


_WAITING = {
    "": "Waiting for a free crawler instance: {} to crawl.",
    "pause": "Waiting until crawls may run again: {} to crawl.",
}


def _waits(opening: str, standing: Standing) -> str:
    """For what it waits: "Pausing; waiting for 3 pages that are being read."."""
    fetched, read, instances = standing.awaited
    words = [plural(read, "page that is being read,pages that are being read")] if read else []
    words += [plural(fetched, "page that is being fetched,pages that are being fetched")] if fetched else []
    if instances and not words:
        words = [plural(instances, "crawler instance to answer,crawler instances to answer")]
    return f"{opening}; waiting for {' and '.join(words)}." if words else ""


_PAUSING = "Pausing; what is being fetched is finished first."
_HELD = {
    State.PAUSED: "Paused; nothing is lost.",
    State.INTERRUPTED: "Interrupted; it continues by itself.",
    State.STOPPING: "Stopping; what was fetched is being put in order.",
}


def _progress(sums: Totals) -> SafeString:
    return format_html(
        "<strong>{} of {}</strong> pages found so far are done; {}",
        number(sums.done),
        number(sums.wanted),
        _errors(sums),
    )


def _errors(sums: Totals) -> str:
    if not sums.failed:
        return "no errors"
    return format_html("<strong>{}</strong>", plural(sums.failed, "error"))


def _speed(per_minute: int) -> str:
    return f"; about {plural(per_minute, 'page')} a minute" if per_minute else ""


def _attention(run: Run, aftermath: Aftermath) -> SafeString | str:
    if aftermath.looking:
        return format_html(' <a href="{}">Still looking for findings</a>.', reverse("run-findings", args=[run.pk]))
    if not aftermath.findings:
        return ""
    door = f"{reverse('run-findings', args=[run.pk])}?state={NEEDING}"
    needs = plural(aftermath.findings, "finding needs,findings need")
    return format_html(' <strong><a href="{}">{} attention</a>.</strong>', door, needs)


_CHANGES = {"new": "added", "changed": "changed", "moved": "moved", "gone": "removed"}


def _changed(aftermath: Aftermath) -> str:
    """Since the last complete crawls: "3 pages added, 38 changed, 2 removed since run 206"."""
    if not aftermath.since:
        return ""
    told = [(word, aftermath.changes[name]) for name, word in _CHANGES.items() if aftermath.changes[name]]
    (first, count), *others = told or [("changed", 0)]
    more = "".join(f", {number(count)} {word}" for word, count in others)
    return f", {plural(count, 'page')} {first}{more} since run {aftermath.since}"


def _ended(run: Run, code: str, sums: Totals, now: datetime, aftermath: Aftermath, standing: Standing) -> SafeString:
    documents = plural(sums.documents, "document")
    took = duration(((run.finished_at or now) - run.started_at).total_seconds()) if run.started_at else "0 s"
    pages = plural(sums.pages, "page")
    opening = _opening(State(code), standing)
    if code == State.CANCELLED:
        discarded = plural(sums.documents - standing.kept, "document")
        told = f"the results of {discarded} were discarded; the earlier ones stay.{_finished_before(standing.kept)}"
        return format_html("{} {}: {}", opening, took, told)
    stored = format_html("<strong>{}</strong> stored from {}, {}", pages, documents, _errors(sums))
    return format_html("{} {}: {}{}.", opening, took, stored, _changed(aftermath))


def _finished_before(kept: int) -> str:
    words = "document had finished before; its results are,documents had finished before; theirs are"
    return f" {plural(kept, words)} kept." if kept else ""


def _opening(state: State, standing: Standing) -> SafeString | str:
    if not standing.ended_by:
        return _OPENINGS[state]
    return format_html("{} by {} {}, after", state.label, standing.ended_by, on_day(standing.ended_at))


_OPENINGS = {
    State.FINISHED: "Finished in",
    State.FINISHED_AT_LIMIT: "Finished at a limit in",
    State.STOPPED: "Stopped after",
    State.CANCELLED: "Cancelled after",
    State.FAILED: "Failed by a fault of ours after",
}
