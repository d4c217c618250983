"""Owns: the parts of the record, and taking one in a process of its own."""

import multiprocessing
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from tests.recorded import files
from tests.recorded.world import make_databases


class Part(NamedTuple):
    name: str  # of its file, or of the folder of its files
    module: str
    tells: str
    short: bool = False  # cheap enough for the suite
    needs_databases: bool = True


PARTS = (
    Part("openapi", "api.contract", "the OpenAPI document, references filled in", short=True),
    Part("api", "api.exchanges", "requests to the JSON API with their answers", short=True),
    Part("statuses", "statuses", "every address by GET and POST for six people"),
    Part("routes", "routes", "every address there is, asked or not", short=True),
    Part("query-counts", "query_counts", "queries of each page, on n and on 3n rows"),
    Part("schema-sqlite", "schema.sqlite", "tables and views on SQLite", short=True, needs_databases=False),
    Part("schema-postgres", "schema.postgres", "tables and views on PostgreSQL", needs_databases=False),
    Part("exports", "exports", "downloads of rows, with their heads", short=True),
    Part("for-programs", "for_programs", "measurements, health, feeds, suggestions", short=True),
    Part("settings", "settings", "environment variables and their defaults", short=True, needs_databases=False),
    Part("command-help", "commands.helps", "--help of every command", short=True),
    Part("commands", "commands.scenario", "a scenario of commands with --json", needs_databases=False),
)


def named(names: list[str], short: bool) -> list[Part]:
    known = {part.name: part for part in PARTS}
    if unknown := set(names) - set(known):
        raise SystemExit(f"There is no part {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return [part for part in PARTS if (not names or part.name in names) and (part.short or not short)]


def take(parts: list[Part], each: Callable[[Part, dict[str, Any]], None], *, anew: bool = False) -> None:
    """The present state of each part, given to `each` as soon as it is there; `anew`: ask what the tables name now.

    A process that took one part has caches warm and ids given out: each is taken in a copy of one that did nothing.
    """
    if any(part.needs_databases for part in parts):
        make_databases()
    copies = multiprocessing.get_context("fork")
    for part in parts:
        with copies.Pool(1) as pool:
            each(part, pool.apply(_taken, (part, anew)))


def _taken(part: Part, anew: bool) -> dict[str, Any]:
    record: Callable[[dict[str, Any]], dict[str, Any]] = import_module(f"tests.recorded.{part.module}").record
    return record({} if anew else files.read(part.name))
