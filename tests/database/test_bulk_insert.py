"""Rows of one shape as PostgreSQL is sent them: one statement, whatever stands behind the values."""

import pytest

from crawler.bulk_sql import as_copy, insertion, of_several


@pytest.mark.parametrize(("ignore", "tail"), [(False, ""), (True, " ON CONFLICT DO NOTHING")])
def test_an_insert_of_several_rows_has_the_marks_of_each(ignore: bool, tail: str) -> None:
    one = insertion("postgresql", "page_body", ("digest", "content"), ignore=ignore)
    assert of_several(one, 1) == one
    assert of_several(one, 3) == f"INSERT INTO page_body (digest, content) VALUES {', '.join(['(%s, %s)'] * 3)}{tail}"


def test_where_no_row_can_be_there_already_they_are_copied() -> None:
    assert as_copy(insertion("postgresql", "ledger", ("url", "at"))) == "COPY ledger (url, at) FROM STDIN"
