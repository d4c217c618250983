"""Recorded as migrated is not migrated: `prepare` compares the tables with the models, and says what they lack."""

import pytest

from tests.adoption.conftest import Install


def said(install: Install) -> str:
    done = install.command("prepare")
    assert done.returncode == 1, done.stdout
    assert "Traceback" not in done.stderr and len(done.stderr.strip().splitlines()) == 1, done.stderr
    doctor = install.command("doctor")
    assert "the tables are not those of this version" in doctor.stdout, doctor.stdout
    return done.stderr


@pytest.mark.parametrize(
    ("alias", "statement", "words"),
    [
        ("webcrawl", "ALTER TABLE run DROP COLUMN requested_by", "version: run has no column requested_by; restore"),
        ("default", "ALTER TABLE crawl_point DROP COLUMN note", "crawl_point has no column note"),
        ("primary", "DROP TABLE lexicon_state", "there is no table lexicon_state"),
        ("default", "DROP TABLE auth_user_groups", "there is no table auth_user_groups"),
    ],
)  # fmt: skip
def test_a_database_that_lacks_something_is_refused_by_its_name(
    install: Install, alias: str, statement: str, words: str
) -> None:
    install.prepare()
    install.execute(alias, statement)
    assert words in said(install)


def test_a_column_that_is_too_narrow_or_of_another_kind_is_refused(install: Install) -> None:
    if install.vendor == "sqlite":
        return  # every column takes every value
    install.prepare()
    install.execute(
        "webcrawl",
        "ALTER TABLE host_figure ALTER doc_id TYPE integer",
        "ALTER TABLE propagation ALTER requested_by TYPE varchar(3)",
        "ALTER TABLE propagation ALTER created_at TYPE text",
        "ALTER TABLE run ALTER finished_at SET NOT NULL",
    )
    told = said(install)
    for words in (
        "host_figure.doc_id is integer here, and bigint in this version",
        "propagation.requested_by is character varying(3) here",
        "propagation.created_at is text here, and timestamp with time zone in this version",
        "run.finished_at must be given here, and may be empty in this version",
    ):
        assert words in told


def test_columns_and_tables_of_others_are_no_fault(install: Install) -> None:
    install.prepare()
    install.execute(
        "webcrawl", "ALTER TABLE run ADD their_note varchar(10) NOT NULL DEFAULT ''", "CREATE TABLE theirs (a int)"
    )
    assert set(install.prepare().values()) == {"up to date"}
