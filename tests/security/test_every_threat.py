"""Each threat to the interactive side has a test that a reader finds by its number."""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
THREATS = (*range(7, 19), 20, *range(31, 37))


def test_every_threat_has_a_test_that_names_it() -> None:
    texts = [path.read_text() for path in TESTS.rglob("test_*.py") if path != Path(__file__)]
    missing = []
    for number in THREATS:
        named = re.compile(rf"def test_t{number}_|_t{number}_|[Tt]hreats? [^\n]*\bT{number}\b")
        if not any(named.search(text) for text in texts):
            missing.append(f"T{number}")
    assert missing == []
