"""python -m tests.upgrade.record: write down what this version leaves behind, as tests/upgrade/released/VERSION.json.

To be run at a release, and as often as wanted before it. A version whose CHANGELOG heading no longer says "(not
released)" is not recorded again: databases of it are out there.
"""

import getpass
import json
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from clearinghouse import __version__
from tests.flow.house import BASE, House
from tests.sites.graph import Page, Site, html, serve
from tests.upgrade.released_versions import ALIASES, FOLDER, KEYS, digests, headings

FILES = {"default": "doc_library", "webcrawl": "webcrawl", "primary": "primary", "backup": "backup"}
LEFT_OUT = {"django_migrations", "published_facts"}  # the second belongs to the index, which is made anew


def main() -> None:
    if headings().get(__version__) != "(not released)":
        sys.exit(f"{__version__} is released, or has no heading “## {__version__} (not released)” in CHANGELOG.md.")
    with tempfile.TemporaryDirectory(prefix="record-") as folder, a_site() as site:
        house = House(Path(folder))
        house.env |= {"CLEARINGHOUSE_CREDENTIAL_KEYS": KEYS, "CLEARINGHOUSE_ALLOWED_NETWORKS": "127.0.0.0/8"}
        live_through(house, site)
        done = {
            "version": __version__,
            "migrations": digests(),
            "applied": house.rows("webcrawl", "SELECT app, name FROM django_migrations ORDER BY app, name"),
            "databases": {alias: dict(tables_of(Path(folder) / f"{FILES[alias]}.sqlite3")) for alias in ALIASES},
        }
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{__version__}.json"
    path.write_text(_text(done))
    rows = sum(len(table["rows"]) for tables in done["databases"].values() for table in tables.values())
    print(f"{path.relative_to(BASE)}: {len(done['migrations'])} migrations, {rows} rows, {path.stat().st_size:,} bytes")


def a_site() -> Any:
    pages = {
        f"/m/{number}": Page(body=html(f"Étude {number}", ["/m/0", "/m/gone"], "mesure 中文")) for number in range(3)
    }
    return serve({"/m/": Page(["/m/0", "/m/1", "/m/2", "/m/old", "/m/gone", "/elsewhere"]), **pages}
                 | {"/m/old": Page(status=301, location="/m/1")})  # fmt: skip


def live_through(house: House, site: Site) -> None:
    """A short life: a document that is crawled twice and propagated, then a row in each table still empty."""
    house.manage("prepare")
    document = house.manage("add_document", "Qualité « mesurée »", "--project", "Étude")["doc_id"]
    password = {"THE_PASSWORD": "pass-wörd"}
    secret = ["--auth", "basic", "--user", "ann", "--password-env", "THE_PASSWORD"]
    house.manage("add_crawl_point", document, site.url("/m/"), "--depth", 3, *secret, **password)
    house.manage("add_exclude_url", document, site.url("/m/2*"))
    for _ in range(2):
        house.manage("crawl", "--doc", document, "--speed", "fast")
        house.manage("propagate")
        site.pages["/m/1"].body = html("Étude neuve", ["/m/0"], "changed")
    subprocess.run([sys.executable, "-m", "tests.upgrade.filling"], cwd=BASE, env=house.env, check=True)


def tables_of(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    with closing(sqlite3.connect(path)) as connection:
        for table in sorted(_managed(connection)):
            cursor = connection.execute(f'SELECT * FROM "{table}" ORDER BY 1')
            columns = [column[0] for column in cursor.description]
            yield table, {"columns": columns, "rows": [[_plain(value) for value in row] for row in cursor]}


def _managed(connection: sqlite3.Connection) -> set[str]:
    """Tables of models; those of the full text index are made anew from the pages."""
    made = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    virtual = {name for name, sql in made if "VIRTUAL TABLE" in (sql or "").upper()}
    beside = {name for name, _ in made if any(name.startswith(f"{one}_") for one in virtual)}
    return {name for name, _ in made if not name.startswith("sqlite_")} - virtual - beside - LEFT_OUT


def _plain(value: Any) -> Any:
    """As JSON takes it, without the names of this machine and of who sits at it."""
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if value == socket.gethostname():
        return "machine"
    return value.replace(f"{getpass.getuser()}, command", "somebody, command") if isinstance(value, str) else value


def _text(done: dict[str, Any]) -> str:
    """JSON with a line for each row, so that a change of one is seen as such."""
    head = {name: done[name] for name in ("version", "migrations", "applied")}
    lines = [json.dumps(head, ensure_ascii=False, indent=1)[:-2] + ',\n "databases": {']
    for alias, tables in done["databases"].items():
        lines.append(f"  {json.dumps(alias)}: {{")
        for name, table in tables.items():
            rows = ",\n    ".join(json.dumps(row, ensure_ascii=False) for row in table["rows"])
            lines.append(
                f'   {json.dumps(name)}: {{"columns": {json.dumps(table["columns"])}, "rows": [\n    {rows}\n   ]}},'
            )
        lines[-1] = lines[-1].rstrip(",")
        lines.append("  },")
    lines[-1] = "  }"
    return "\n".join([*lines, " }", "}"]) + "\n"


if __name__ == "__main__":
    main()
