"""A reason is said in plain words with the status, and with what to do; numbers of a status never stand alone."""

import re
from collections import Counter

import pytest

from crawler.reasons import HTTP, answered, by_status, reason_of
from crawler.values import FAILED, REASONS

# What nobody outside of the trade says.
JARGON = re.compile(r"\b[45]xx\b|\bHTTP\b|CLEARINGHOUSE_|\b[Qq]ueue|\b[Ww]orker|\b[Ss]tatus\b|\b[Ee]xception")


@pytest.mark.parametrize("code", REASONS)
def test_each_reason_says_what_to_do(code: str) -> None:
    reason = reason_of(code)
    assert reason.advice.endswith(".") and reason.advice[0].isupper()
    assert not JARGON.search(" ".join((reason.label, reason.because, reason.advice)))


@pytest.mark.parametrize(
    ("status", "label"),
    [(404, "not found"), (410, "gone"), (403, "forbidden"), (401, "asks for a password"), (429, "too many requests"),
     (418, "refused"), (503, "site unavailable"), (599, "fault of the site")],
)  # fmt: skip
def test_a_status_is_a_word_and_a_sentence(status: int, label: str) -> None:
    reason = reason_of(f"http_{status // 100}xx", status)
    assert (reason.label, reason.outcome, answered(status)) == (f"{label} ({status})", FAILED, f"{status} ({label})")
    assert reason.because.startswith(f"the site answered {status}: ") and reason.advice.endswith(".")
    assert not JARGON.search(" ".join((reason.because, reason.advice)))


def test_only_failures_by_status_are_divided_and_only_where_the_counts_agree() -> None:
    statuses = Counter({200: 9, 404: 3, 403: 1, 401: 2, 503: 1})
    found = by_status({"http_4xx": 4, "auth_required": 2, "http_5xx": 2}, statuses)
    assert [(reason.label, count) for reason, count in found] == [
        ("not found (404)", 3), ("asks for a password", 2), ("fault of the site", 2), ("forbidden (403)", 1),
    ]  # fmt: skip
    assert {reason.code for reason, _ in found if reason.status} < set(HTTP)
    assert reason_of("of_another_version", 404).label == "of_another_version"
