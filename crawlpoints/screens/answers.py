"""The explainer's answer in words: the sentence first, then each check in order, then what is already known."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clearinghouse.digests import digest_of
from crawler.models import LedgerEntry
from crawler.values import REASONS

CHECKS = {
    "address": "Can be read", "scheme": "http or https", "port": "Port", "traps": "Endless addresses",
    "root": "Root string", "exclude": "Exclude URLs", "nofollow": "nofollow", "depth": "Depth limit",
    "deactivation": "Crawl point active", "run limit": "Limits of the run", "network": "Network address",
    "robots": "robots.txt", "maximum": "Maximum pages",
}  # fmt: skip
_PASSED = {
    "address": "Can be read", "scheme": "Is http or https", "port": "Port allowed", "traps": "Not an endless address",
    "root": "Begins with the root string", "exclude": "Not excluded", "nofollow": "Not held back by nofollow",
    "depth": "Within the depth limit", "network": "Network address allowed", "robots": "robots.txt allows it",
    "maximum": "Maximum pages not reached",
}  # fmt: skip
_STOPPED = {
    "address": "Cannot be read", "scheme": "Is not http or https", "port": "Port not allowed",
    "traps": "Looks endless", "exclude": "Excluded by", "nofollow": "Held back by nofollow",
    "depth": "Beyond the depth limit", "network": "Network address not allowed", "robots": "robots.txt forbids it",
}  # fmt: skip
_WORDS = {"pass": "Pass", "stop": "Stop", "idle": "Not reached"}
_DEPENDS = {"depth": "Depth depends on the page that links to it"}


@dataclass(frozen=True, slots=True)
class Compared:
    """Root string and address with the first character that differs."""

    position: int
    root: tuple[str, str, str]  # the same, the character that differs, the rest
    address: tuple[str, str, str]


def compare(root: str, address: str) -> Compared | None:
    """Where they part; None when the address begins with the root."""
    length = 0
    for one, other in zip(root, address, strict=False):
        if one != other:
            break
        length += 1
    if length == len(root):
        return None
    parts = [(text[:length], text[length : length + 1], text[length + 1 :]) for text in (root, address)]
    return Compared(length + 1, parts[0], parts[1])


def answer_of(found: Mapping[str, Any], line: str, doc_id: int | None = None) -> dict[str, Any]:
    """For the templates."""
    reason = REASONS.get(found["reason"])
    if not line:
        empty = dict.fromkeys(("line", "url", "text", "verdict", "reason", "code"), "")
        return empty | {"sentence": "Enter an address to test", "kind": "info", "trace": [], "note": None}
    if found["verdict"] == "no":
        sentence, kind = f"No, because it {reason.sentence if reason else 'is refused'}", "bad"
    elif found["verdict"] == "yes":
        depth = found["depth"]
        sentence, kind = f"Yes, at depth {depth} at most" if depth else "Yes, at depth 0: a crawl starts there", "ok"
    else:
        sentence, kind = "Yes, if a page within the depth limit links to it", "ok"
    return {
        "sentence": sentence, "kind": kind, "line": line, "url": found["url"], "verdict": found["verdict"],
        "reason": reason.label if reason else "", "code": found["reason"],
        "trace": (trace := [_step(one, line, found["url"]) for one in found["trace"]]),
        "text": "\n".join([f"{found['url']}: {sentence}.", *(_plain(step) for step in trace)]),
        "note": _known(doc_id, found["url"]) if doc_id else None,
    }  # fmt: skip


def _step(one: Mapping[str, Any], line: str, url: str) -> dict[str, Any]:
    check, result, detail = one["check"], one["result"], one["detail"]
    label = {"pass": _PASSED, "stop": _STOPPED}.get(result, CHECKS).get(check) or CHECKS.get(check, str(check))
    compared = compare(detail, url) if check == "root" and result == "stop" else None
    if check == "address" and result == "pass" and url != line:
        label = "Can be read. Canonical form"
    elif check == "address" and result == "pass":
        detail = ""
    elif check == "robots" and result == "idle":
        label = "robots.txt: not read yet; Fetch it now reads it"
    elif result == "idle":
        label = _DEPENDS.get(check, label)
    if compared:
        label, detail = f"Does not begin with the root string: character {compared.position} is", ""
    return {"result": result, "word": _WORDS.get(result, result), "label": label, "detail": detail, "cmp": compared}


def _plain(step: Mapping[str, Any]) -> str:
    detail = f": {step['detail']}" if step["detail"] else ""
    if step["cmp"]:
        detail = f" {step['cmp'].address[1] or 'missing'}, not {step['cmp'].root[1]}"
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
    reason = REASONS.get(row.reason)
    return {
        "run": row.excursion.run_id, "outcome": row.outcome, "depth": row.depth, "found_on": parent,
        "reason": reason.label if reason else "",
    }  # fmt: skip
