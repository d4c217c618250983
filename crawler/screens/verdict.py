"""The one sentence a run page opens with, and the words of its state. Pure."""

from datetime import datetime

from django.utils.html import format_html
from django.utils.safestring import SafeString

from clearinghouse.access.templatetags.pieces import duration, number, plural

from ..models import OPEN_STATES, Run, State
from ..queries.aftermath import Aftermath
from ..queries.counts import Totals

# What was asked of a run and has not happened yet.
PENDING = {"pause": "Pausing", "stop": "Stopping", "cancel": "Cancelling"}
_LIMITS = {"page_limit": "maximum pages", "run_limit": "the run's limit"}


def state_word(run: Run, reasons: dict[str, int] | None = None, because: str = "") -> str:
    """The state in words, with what was asked meanwhile, which limit was met, and why (`because`) if that is known."""
    if run.state == State.STOPPING:
        return "Cancelling" if run.control == "cancel" else ""
    if run.state in (State.PAUSED, State.INTERRUPTED):
        return _HELD_WORDS[State(run.state)].format(because) if because else ""
    if run.state in OPEN_STATES:
        return PENDING.get(run.control, "")
    if run.state == State.FINISHED_AT_LIMIT:
        met = [words for code, words in _LIMITS.items() if (reasons or {}).get(code)]
        return f"Finished at limit ({' and '.join(met)})" if met else ""
    return _ENDED_WORDS.get(State(run.state), "")


_HELD_WORDS = {State.PAUSED: "Paused ({})", State.INTERRUPTED: "Interrupted, resuming ({} time)"}
_ENDED_WORDS = {
    State.STOPPED: "Stopped (kept)",
    State.CANCELLED: "Cancelled (discarded)",
    State.FAILED: "Failed (a fault of ours)",
}


NOTHING = Aftermath()


def verdict(run: Run, sums: Totals, per_minute: int, now: datetime, aftermath: Aftermath = NOTHING) -> SafeString:
    """What happened, in one sentence; numbers that matter are strong."""
    documents = plural(sums.documents, "document")
    if run.state == State.WAITING:
        return format_html("Waiting for a free crawler instance: {} to crawl.", documents)
    if run.state == State.RUNNING:
        return format_html("Crawling {}. {}{}.", documents, _progress(sums), _speed(per_minute))
    if run.state in (State.PAUSED, State.INTERRUPTED, State.STOPPING):
        return format_html("{} {}.", _HELD[State(run.state)], _progress(sums))
    return format_html("{}{}", _ended(run, sums, now, aftermath), _attention(aftermath))


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


def _attention(aftermath: Aftermath) -> SafeString | str:
    if not aftermath.findings:
        return ""
    needs = "needs" if aftermath.findings == 1 else "need"
    return format_html(" <strong>{} {} attention.</strong>", plural(aftermath.findings, "finding"), needs)


def _changed(aftermath: Aftermath) -> str:
    if aftermath.since is None:
        return ""
    return f", {plural(aftermath.changed, 'page')} changed since run {aftermath.since}"


def _ended(run: Run, sums: Totals, now: datetime, aftermath: Aftermath) -> SafeString:
    documents = plural(sums.documents, "document")
    took = duration(((run.finished_at or now) - run.started_at).total_seconds()) if run.started_at else "0 s"
    pages = plural(sums.pages, "page")
    if run.state == State.CANCELLED:
        return format_html(
            "Cancelled after {}: the results were discarded, {} are as they were before.", took, documents
        )
    opening = _OPENINGS[State(run.state)]
    stored = format_html("<strong>{}</strong> stored from {}, {}", pages, documents, _errors(sums))
    return format_html("{} {}: {}{}.", opening, took, stored, _changed(aftermath))


_OPENINGS = {
    State.FINISHED: "Finished in",
    State.FINISHED_AT_LIMIT: "Finished at a limit in",
    State.STOPPED: "Stopped after",
    State.FAILED: "Failed by a fault of ours after",
}
