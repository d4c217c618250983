"""The short form: python -m tests.hostile judges a million links."""

from tests.hostile.scope import judge_links
from tests.proves import proves


@proves("F6", "goal 10")
def test_no_link_outside_the_roots_or_excluded_would_be_fetched() -> None:
    judged, fetched, faults = judge_links(20_000, seed=3)
    assert faults == []
    assert judged == 20_000 and fetched > 1_000
