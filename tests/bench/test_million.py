"""The million in a tiny form: what it counts must be right, and it needs no other web server."""

import pytest

from tests.bench import million


def test_each_page_names_addresses_that_no_page_had_named_before() -> None:
    named = [link for number in range(40) for link in million.page(number, 7).split(b'href="')[1:]]
    assert len({link.partition(b'"')[0] for link in named}) == 40 * 7


def test_most_addresses_are_kept_out_by_a_maximum_and_by_a_depth_limit(capsys: pytest.CaptureFixture[str]) -> None:
    million.main(["--pages", "20", "--links", "9", "--fan", "6", "--tenth", "0"])
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if "balanced" in line]
    assert [row[1:3] for row in rows] == [[f"{20 * 9 + 1}", "20"], [f"{1 + 6 + 36 + 216}", f"{1 + 6 + 36}"]]
