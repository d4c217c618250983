"""The site and the house that are killed: small, but with everything whose rows could come apart.

Many ends (six documents), a maximum, two crawl points over the same pages, redirects and a circle of them, failures,
and a chain that keeps the crawl going long enough for several batches.
"""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

from tests.faults.house import BASE, House, prepared_once
from tests.sites.graph import Page

SLOW, QUICK = 0.025, 0.003
MAXIMUM = 7  # of the document that has one
LIMITED = "/limited/"
PLACEHOLDER = "http://127.0.0.1:9"  # replaced by the address of the lane's site

# Document -> its crawl points: start path, depth, further options of the command.
DOCUMENTS: list[list[list[str]]] = [
    [["/chain/0", "--depth", "99"]],
    [["/tree/0", "--depth", "50"]],
    [["/twice/0", "--depth", "2"], ["/twice/9", "--depth", "3"]],
    [[f"{LIMITED}0", "--depth", "9", "--max-pages", str(MAXIMUM)]],
    [["/moved/0", "--depth", "9"]],
    [["/small/0", "--depth", "9"]],
]


def pages() -> dict[str, Page]:
    site = {f"/chain/{n}": Page([f"/chain/{n + 1}", "/chain/0"] if n < 17 else [], delay=SLOW) for n in range(18)}
    for n in range(13):
        children = [f"/tree/{child}" for child in (2 * n + 1, 2 * n + 2) if child < 13]
        site[f"/tree/{n}"] = Page([*children, f"/tree/{(n * 5) % 13}", "/tree/none", "/chain/0"], delay=QUICK)
    for n in range(12):
        site[f"/twice/{n}"] = Page([f"/twice/{n + 1}", f"/twice/{n + 2}", "/twice/0"] if n < 10 else [], delay=QUICK)
    for n in range(15):
        site[f"{LIMITED}{n}"] = Page([f"{LIMITED}{child}" for child in range(1, 15)], delay=QUICK)
    site |= {
        "/moved/0": Page(["/moved/a", "/moved/x", "/moved/1"]),
        "/moved/a": Page(status=302, location="/moved/b"),
        "/moved/b": Page(status=301, location="/moved/1"),
        "/moved/x": Page(status=302, location="/moved/y"),
        "/moved/y": Page(status=302, location="/moved/x"),
        "/moved/1": Page(["/moved/0", "/moved/gone"], delay=QUICK),
        "/moved/gone": Page(status=410, body=b"gone"),
        "/small/0": Page(["/small/1", "/small/2", "/tree/0"]),
        "/small/1": Page(["/small/0"]),
        "/small/2": Page([], delay=SLOW),
    }
    return site


_MAKE = """
import sys, json, django
django.setup()
from django.core.management import call_command
call_command("prepare", verbosity=0)
for number, points in enumerate(json.loads(sys.argv[1]), start=1):
    call_command("add_document", f"Document {number}")
    for url, *options in points:
        call_command("add_crawl_point", str(number), url, *options)
"""


def prepared(folder: Path) -> House:
    """A house with all documents, made by the product's commands in one process."""
    house = prepared_once().copy(folder)
    make(house, documents())
    return house


def documents(address: str = PLACEHOLDER) -> list[list[list[str]]]:
    return [[[address + path, *options] for path, *options in points] for points in DOCUMENTS]


def make(house: House, documents: list[list[list[str]]]) -> None:
    environment = house.environment | {"DJANGO_SETTINGS_MODULE": "clearinghouse.settings"}
    command = [sys.executable, "-c", _MAKE, json.dumps(documents)]
    subprocess.run(command, cwd=BASE, env=environment, check=True, capture_output=True)


def point_at(house: House, address: str) -> None:
    """Let the crawl points of a prepared house name the site of this lane."""
    with sqlite3.connect(house.var / "doc_library.sqlite3") as connection:
        names = [row[1] for row in connection.execute("PRAGMA table_info(crawl_point)")]
        for column in [name for name in names if "url" in name or "root" in name]:
            connection.execute(f'UPDATE crawl_point SET "{column}" = replace("{column}", ?, ?)', (PLACEHOLDER, address))
