"""Statements written by hand that SQL Server is sent in a form of its own."""

import pytest

from crawler.bulk_sql import SQL_SERVER, insertion, numbering


@pytest.mark.parametrize("vendor", ["sqlite", "postgresql"])
def test_a_row_that_exists_is_left_out_by_servers_that_know_how(vendor: str) -> None:
    told = insertion(vendor, "page_body", ("digest", "content"), ignore=True)
    assert told == "INSERT INTO page_body (digest, content) VALUES (%s, %s) ON CONFLICT DO NOTHING"


def test_sql_server_looks_first_and_keeps_the_place_free() -> None:
    told = insertion(SQL_SERVER, "page_body", ("digest", "content"), ignore=True)
    there = "SELECT 1 FROM page_body WITH (UPDLOCK, HOLDLOCK) WHERE digest = %s"
    assert told == f"IF NOT EXISTS ({there}) INSERT INTO page_body (digest, content) VALUES (%s, %s)"


def test_a_plain_row_is_written_alike_everywhere() -> None:
    forms = {insertion(vendor, "ledger", ("url",)) for vendor in ("sqlite", "postgresql", SQL_SERVER)}
    assert forms == {"INSERT INTO ledger (url) VALUES (%s)"}


def test_sql_server_is_told_when_rows_bring_their_numbers() -> None:
    assert numbering("page_version", mine=True) == "SET IDENTITY_INSERT page_version ON"
    assert numbering("page_version", mine=False) == "SET IDENTITY_INSERT page_version OFF"
