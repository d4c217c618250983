"""What a web process holds in memory: its screens before anybody asks, of the databases a few megabytes a thread."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from tests.flow.conftest import house, prepared_folder
from tests.flow.house import BASE, House

__all__ = ["house", "prepared_folder"]
ROWS, THREADS = 40_000, 4  # of a kilobyte each
MOST = 20.0  # MB a thread, of four databases
_READ_ALL = """
import re, threading
from clearinghouse.wsgi import application
from django.db import connections

def taken():
    with open("/proc/self/smaps_rollup") as told:
        text = told.read()
    return int(re.search(r"Rss:\\s+(\\d+)", text)[1]) / 1024

def read():
    for alias in ("default", "webcrawl", "primary", "backup"):
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT SUM(LENGTH(text)) FROM much")
            assert cursor.fetchone()[0] == LENGTH
    done.wait()  # its connections stay open
    over.wait()

connections.all()
before = taken()
done, over = threading.Barrier(THREADS + 1), threading.Event()
for _ in range(THREADS):
    threading.Thread(target=read, daemon=True).start()
done.wait()
print(taken() - before)
"""


def test_large_databases_take_a_few_megabytes_a_thread(house: House) -> None:
    for name in ("doc_library", "webcrawl", "primary", "backup"):
        fill(house.folder / f"{name}.sqlite3")
    script = f"THREADS, LENGTH = {THREADS}, {ROWS * 1000}\n{_READ_ALL}"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=BASE, env=house.env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < MOST * THREADS, done.stdout


def test_a_web_process_has_loaded_its_screens_before_anybody_asks(house: House) -> None:
    """That takes a third of a second of processor time, and several visitors may come first."""
    screens = "{'crawler.runs.views.run_page', 'crawlpoints.panel.views'}"
    code = f"import clearinghouse.wsgi, sys; print(*{screens} - {{*sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=BASE, env=house.env, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def fill(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE much (id INTEGER PRIMARY KEY, text TEXT)")
        connection.executemany("INSERT INTO much (text) VALUES (?)", (["x" * 1000] for _ in range(ROWS)))
        connection.commit()
