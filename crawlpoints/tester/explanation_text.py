"""The explainer's answer in words: the sentence first, then each check in order, then what is already known."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clearinghouse.database.digests import digest_of
from clearinghouse.web.plurals import plural
from crawler.ledger.explain import IGNORED, RootComparison, compare, sentence_of
from crawler.models import LedgerEntry
from crawler.policy.address_checks import CHECK_NAMED
from crawler.reasons import reason_of

_WORDS = {"pass": "Pass", "stop": "Stop", "idle": "Not checked"}


@dataclass(frozen=True, slots=True)
class SettingNames:
    """How people know what a check names: crawl points by address, excludes by their line in the dialog."""

    points: Mapping[int, str] = field(default_factory=dict)  # by id, where there are several or it is the dialog's own
    excludes: Mapping[str, str] = field(default_factory=dict)  # pattern: "line 3"


NAMELESS = SettingNames()


def answer_of(
    found: Mapping[str, Any], line: str, doc_id: int | None = None, names: SettingNames = NAMELESS
) -> dict[str, Any]:
    """For the templates."""
    reason = reason_of(found["reason"])
    if not line:
        empty = dict.fromkeys(("line", "url", "text", "verdict", "reason", "code", "advice"), "")
        return empty | {"sentence": "Enter an address to test", "kind": "info", "trace": [], "note": None}
    sentence = sentence_of(found)
    hardly = found["verdict"] == "depends" and not found["depth"]  # only where the start page redirects to it
    kind = "bad" if found["verdict"] == "no" else "info" if hardly else "ok"
    return {
        "sentence": sentence, "kind": kind, "line": line, "url": found["url"], "verdict": found["verdict"],
        "reason": reason.label, "code": found["reason"], "advice": reason.advice,
        "trace": (trace := _steps(found, line, names)),
        "text": "\n".join([f"{found['url']}: {sentence}.", *(_plain(step) for step in trace)]),
        "note": _known(doc_id, found["url"]) if doc_id else None,
    }  # fmt: skip


def _steps(found: Mapping[str, Any], line: str, names: SettingNames) -> list[dict[str, Any]]:
    later = found["verdict"] != "no"  # then a check that was not made yet will be
    steps = [_step(one, line, found, names, later) for one in found["trace"]]
    if later:
        return steps
    made, idle = ([step for step in steps if (step["result"] == "idle") is wanted] for wanted in (False, True))
    return [*made, *_elsewhere(found, names), *_not_made(idle)]


def _elsewhere(found: Mapping[str, Any], names: SettingNames) -> list[dict[str, Any]]:
    """The trace is that of the crawl point that gets furthest: if this is its root string, no other lets it in."""
    others = len(names.points) - 1
    if others < 1 or found["reason"] != "outside_root" or found["depth"] is not None:
        return []
    fits = plural(others, "other crawl point does,other crawl points do")
    return [_plain_step("stop", f"{fits} not let it in either")]


def _not_made(idle: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line for all behind the stop."""
    text = ", ".join(f"{step['label'][0].lower()}{step['label'][1:]}" for step in idle)
    return [_plain_step("idle", text[0].upper() + text[1:])] if text else []


def _plain_step(result: str, label: str) -> dict[str, Any]:
    return {"result": result, "word": _WORDS[result], "label": label, "detail": "", "cmp": None}


def _step(
    one: Mapping[str, Any], line: str, found: Mapping[str, Any], names: SettingNames, later: bool
) -> dict[str, Any]:
    check, result, detail, url = one["check"], one["result"], one["detail"], found["url"]
    words = CHECK_NAMED[check]
    label = {"pass": words.passed, "stop": words.stopped}.get(result) or words.label
    word = _WORDS.get(result, result)
    compared = None
    if check == "root" and result != "idle":
        label, detail, compared = _root(result, label, detail, url, names.points.get(found["crawl_point_id"], ""))
    elif check == "exclude" and result == "stop" and detail in names.excludes:
        label = f"Excluded by {names.excludes[detail]}"
    elif check == "address" and result == "pass":
        label, detail = ("Can be read. Canonical form", detail) if url != line else (label, "")
    elif check == "robots" and result == "pass" and detail == IGNORED:
        label = "robots.txt"
    elif result == "idle" and later:
        label, word = words.waiting or label, "Later"
    return {"result": result, "word": word, "label": label, "detail": detail, "cmp": compared}


def _root(result: str, label: str, root: str, url: str, point: str) -> tuple[str, str, RootComparison | None]:
    """Which crawl point's root string it is, and where the address leaves it."""
    of = f" of {point}" if point else ""
    compared = compare(root, url) if result == "stop" else None
    if compared:
        return f"Does not begin with the root string{of}: character {compared.position} is", "", compared
    return label + of, root, None


def _plain(step: Mapping[str, Any]) -> str:
    detail = f": {step['detail']}" if step["detail"] else ""
    if step["cmp"]:
        detail = f" {step['cmp'].address_hit or 'missing'}, not {step['cmp'].root_hit}"
    return f"{step['word']}: {step['label']}{detail}"


def _known(doc_id: int, url: str) -> dict[str, Any] | None:
    """A note, never the verdict: what became of this address in the latest run that met it."""
    row = LedgerEntry.objects.filter(doc_id=doc_id, url_key=digest_of(url)).order_by("-id").first()
    if row is None:
        return None
    parent = None
    if row.found_on:
        rows = LedgerEntry.objects.filter(excursion=row.excursion_id, url_key=row.found_on)
        parent = rows.values_list("url", flat=True).first()
    reason = reason_of(row.reason, row.status)
    return {
        "run": row.excursion.run_id, "outcome": row.outcome, "depth": row.depth, "found_on": parent,
        "reason": reason.label, "advice": reason.advice,
    }  # fmt: skip
