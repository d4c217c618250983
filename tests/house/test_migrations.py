"""A released migration is never edited, renamed or removed: databases that ran it are out there."""

import pytest

from clearinghouse import __version__
from tests.upgrade.released_versions import digests, headings, recorded, versions


@pytest.mark.parametrize("version", versions())
def test_released_migrations_are_as_they_were(version: str) -> None:
    now = digests()
    changed = [name for name, digest in recorded(version)["migrations"].items() if now.get(name) != digest]
    assert changed == [], (
        f"{version} was released with other files; put them back and write a new migration"
        " (before its release: python -m tests.upgrade.record)"
    )


def test_the_version_is_the_newest_of_the_changelog_and_every_release_is_recorded() -> None:
    told = headings()
    assert next(iter(told)) == __version__
    begun = [version for version in told if version != "0.1.0"]  # histories are kept from 0.2.0 on
    released = [version for version in begun if told[version] != "(not released)"]
    assert set(released) <= set(versions()) <= set(begun)


@pytest.mark.parametrize("version", versions())
def test_a_record_holds_a_row_of_every_table(version: str) -> None:
    empty = [
        f"{alias}.{name}"
        for alias, tables in recorded(version)["databases"].items()
        for name, table in tables.items()
        if not table["rows"]
    ]
    assert empty == []
