"""Each suite of others that lies on this machine comes out as docs/figures.md says: nothing differs unexplained."""

import pytest

from tests.requirements import need
from tests.suites import Result, folder_of, suites


@pytest.mark.parametrize("name", suites())
def test_nothing_differs_but_by_design(name: str) -> None:
    suite = suites()[name]
    folder = folder_of(suite)
    need("suites", folder is not None, f"CLEARINGHOUSE_SUITES names no folder with {suite.FOLDER}")
    assert folder is not None
    result = suite.run(folder)
    assert result.cases > 0
    assert result.faults == []


def test_a_result_counts_what_it_judges() -> None:
    result = Result()
    assert result.judge("same", 1, 1)
    assert not result.judge("other", 1, 2)
    result.differ("they count from zero", cases=2)
    result.differ("they count from zero")
    assert (result.cases, result.passed) == (5, 1)
    assert result.faults == ["other: ours 1, theirs 2"]
    assert result.differences == ["they count from zero"]
