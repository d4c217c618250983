"""The real schema against the seed's data dictionary: nothing is missing, nothing is narrower.

A view is judged by its base table; columns may be wider, tables may have more columns. Where ours is stricter about
NULL than the dictionary, the exception stands in STRICTER with its reason.
"""

import re
from typing import Any, NamedTuple

import pytest

from tests.adoption.conftest import Install
from tests.adoption.old_library import DICTIONARY

EVERYWHERE = ("doc_crawl_page", "crawl_page_meta", "crawl_page_type")  # the doc_library of production servers too
EVERYWHERE_ALIASES = ("default", "primary", "backup")

# The column behind a view's column, where it has one that is not computed: (view, is webcrawl) -> column -> base.
BASES = {
    ("doc_crawl_page", False): dict.fromkeys(
        ["doc_crawl_page_id", "doc_id", "crawl_page_url", "title_str", "crawl_file", "page_ext"], "published_version."
    ),
    ("crawl_page_meta", False): {
        "crawl_page_meta_id": "published_meta.published_meta_id",
        "doc_crawl_page_id": "published_version.",
        "name_str": "published_meta.",
        "content_str": "published_meta.",
    },
    ("doc_crawl_page", True): {
        "doc_crawl_page_id": "page_head.",
        "doc_id": "page_head.",
        "crawl_page_url": "page_version.url",
        "crawl_page_type_id": "page_version.type_id",
        "title_str": "page_version.title",
        "updated_fl": "page_head.",
        "crawl_file": "page_body.content",
        "page_ext": "page_version.extension",
    },
    ("crawl_page_meta", True): {"doc_crawl_page_id": "page_head."},
}
OURS_ALONE = "only our crawler writes it, and always with a value"
STRICTER = {
    "active_queue.queue_nm": OURS_ALONE,
    "published_version.title_str": OURS_ALONE,
    "published_version.page_ext": OURS_ALONE,
    "published_meta.content_str": OURS_ALONE,
    "page_version.title": OURS_ALONE,
    "page_version.extension": OURS_ALONE,
    "page_head.updated_fl": OURS_ALONE,
    "page_body.content": OURS_ALONE,
}
KINDS = {
    "number": {"int", "int identity", "short", "tinyint", "integer", "bigint", "smallint"},
    "text": {"varchar", "text", "character varying"},
    "binary": {"ole", "longbinary", "blob", "bytea"},
    "time": {"datetime", "timestamp with time zone"},
}


class Column(NamedTuple):
    kind: str
    width: float
    null: bool
    default: str | None


def column_of(install: Install, alias: str, table: str, name: str) -> Column | None:
    if install.vendor == "postgresql":
        found = install.rows(
            alias,
            "SELECT data_type, character_maximum_length, is_nullable = 'YES', column_default"
            f" FROM information_schema.columns WHERE table_name = '{table}' AND column_name = '{name}'",
        )
        return Column(found[0][0], found[0][1] or float("inf"), *found[0][2:]) if found else None
    found = [row for row in install.rows(alias, f"PRAGMA table_info({table})") if row[1] == name]
    if not found:
        return None
    kind, width = re.fullmatch(r"([a-z ]*?)(?: unsigned)?(?:\((\d+)\))?", found[0][2].lower()).groups()
    return Column(kind, float(width or "inf"), not found[0][3], found[0][4])


def kind_of(name: str) -> str:
    name = name.lower().split("(")[0]
    return next((kind for kind, names in KINDS.items() if name in names), name)


def tables() -> list[Any]:
    listed = [("webcrawl", table, told) for table, told in DICTIONARY["databases"]["webcrawl"].items()]
    for table, told in (DICTIONARY["given"] | DICTIONARY["databases"]["doc_library"]).items():
        listed += [(alias, table, told) for alias in (EVERYWHERE_ALIASES if table in EVERYWHERE else ["default"])]
    return [pytest.param(*one, id=f"{one[0]}-{one[1]}") for one in listed]


@pytest.mark.parametrize(("alias", "table", "told"), tables())
def test_every_column_of_the_dictionary_stands_and_is_wide_enough(
    fresh: Install, alias: str, table: str, told: dict
) -> None:
    for name, wanted in told["columns"].items():
        shown = column_of(fresh, alias, table, name)
        assert shown is not None, f"{table}.{name} is missing"
        base, column = _base(fresh, alias, table, name)
        if column is None:
            continue
        width = int((re.search(r"\((\d+)\)", wanted["type"]) or [0, 0])[1])
        assert kind_of(column.kind) == kind_of(wanted["type"]), base
        assert column.width >= width, f"{base} holds {column.width} characters of {width}"
        assert column.null == wanted["null"] or (wanted["null"] and base in STRICTER), base
        if "default" in wanted and base == f"{table}.{name}":
            assert str(column.default) == str(wanted["default"]), base


def _base(install: Install, alias: str, table: str, name: str) -> tuple[str, Column | None]:
    bases = BASES.get((table, alias == "webcrawl"))
    if bases is None:
        return f"{table}.{name}", column_of(install, alias, table, name)
    if name not in bases:
        return "computed", None
    base, behind = bases[name].split(".")
    behind = behind or name
    column = column_of(install, alias, base, behind)
    assert column is not None
    return f"{base}.{behind}", column


@pytest.mark.parametrize(("alias", "table", "told"), tables())
def test_the_six_metacolumns_stand_on_every_table_but_the_work_tables(
    fresh: Install, alias: str, table: str, told: dict
) -> None:
    there = fresh.columns(alias, table)
    wanted = set() if table in DICTIONARY["without_metacolumns"] else set(DICTIONARY["metacolumns"])
    assert there & set(DICTIONARY["metacolumns"]) == wanted


@pytest.mark.parametrize(("alias", "table", "told"), tables())
def test_keys_of_the_dictionary_are_keys(fresh: Install, alias: str, table: str, told: dict) -> None:
    if (table, False) in BASES:
        return  # a view has no keys
    if told.get("primary_key"):
        assert _primary_key(fresh, alias, table) == told["primary_key"]
    for column, target in told.get("foreign_keys", {}).items():
        assert (column, target) in _foreign_keys(fresh, alias, table)


def _primary_key(install: Install, alias: str, table: str) -> str:
    if install.vendor == "sqlite":
        return next(row[1] for row in install.rows(alias, f"PRAGMA table_info({table})") if row[5])
    sql = (
        "SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]"
        f" WHERE i.indrelid = '{table}'::regclass AND i.indisprimary"
    )
    return install.rows(alias, sql)[0][0]


def _foreign_keys(install: Install, alias: str, table: str) -> set[tuple[str, str]]:
    if install.vendor == "sqlite":
        return {(row[3], f"{row[2]}.{row[4]}") for row in install.rows(alias, f"PRAGMA foreign_key_list({table})")}
    sql = (
        "SELECT a.attname, c.confrelid::regclass::text || '.' || b.attname FROM pg_constraint c"
        " JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]"
        " JOIN pg_attribute b ON b.attrelid = c.confrelid AND b.attnum = c.confkey[1]"
        f" WHERE c.contype = 'f' AND c.conrelid = '{table}'::regclass"
    )
    return set(install.rows(alias, sql))
