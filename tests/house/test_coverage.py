"""Every rule, fault and goal of docs/coverage.md has a test that is marked to prove it, or a reason why not."""

import re

from tests.proves import PAGE, ROW, marks

REASON = re.compile(r"not tested: \S.{9,}")


def numbered(name: str, *numbers: int) -> list[str]:
    return [f"{name}{number}" for number in numbers]


IDS = [
    *numbered("rule ", *range(1, 20)),
    *numbered("I", *range(1, 13)),
    *numbered("A", *range(1, 23)),
    *numbered("B", *range(1, 14)),
    *numbered("C", *range(1, 14)),
    *numbered("D", *range(1, 32)),
    *numbered("E", *range(1, 20)),
    *numbered("F", *range(1, 16)),
    *numbered("G", *range(1, 7)),
    *numbered("goal ", *range(1, 16), 21, 22, 23, 27, 28, 29, 30),
    *numbered("J", *range(1, 8)),
]


def rows() -> list[tuple[str, str, str]]:
    return ROW.findall(PAGE.read_text())


def test_every_rule_fault_and_goal_has_exactly_one_row() -> None:
    assert [name for name, _, _ in rows()] == IDS


def test_every_row_has_a_test_or_a_reason() -> None:
    found = marks()
    assert [name for name, _, why in rows() if not found[name] and not REASON.fullmatch(why.strip())] == []


def test_a_row_says_nothing_but_why_it_is_not_tested() -> None:
    assert [name for name, _, why in rows() if why.strip() and not REASON.fullmatch(why.strip())] == []


def test_every_mark_names_a_row() -> None:
    found = {row for row, tests in marks().items() if tests}
    assert sum(map(len, marks().values())) > 100
    assert found - set(IDS) == set()
