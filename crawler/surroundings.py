"""Owns: what an instance must know of the machine and the database it works on: free space, its own memory, the schema.

Does not: decide what follows. Called by: the instance, once a second.
"""

import gc
import os
import shutil
from pathlib import Path

from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from clearinghouse import env
from clearinghouse.databases import WEBCRAWL

LEAST_FREE = env.number("FREE_SPACE") * 1_000_000  # by default twice the largest page
MOST_MEMORY = env.number("MEMORY") * 1_000_000
NICE = 15


def collect_seldom() -> None:
    """Profiled: looking for circles of garbage among all that was imported took a twentieth of a crawl."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def step_back() -> None:
    """Let everybody else go first: people wait for screens, nobody waits for a crawl or a propagation."""
    os.nice(max(0, NICE - os.nice(0)))


def no_space() -> str:
    """Why nothing more may be stored, or nothing. A database server looks after its own disk."""
    connection = connections[WEBCRAWL]
    if connection.vendor != "sqlite":
        return ""
    folder = Path(str(connection.settings_dict["NAME"])).parent
    free = shutil.disk_usage(folder).free if folder.is_dir() else LEAST_FREE
    return f"{free // 1_000_000} MB are free in {folder}" if free < LEAST_FREE else ""


def memory() -> int:
    """Bytes of memory this process holds."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if status.exists() else 0


def schema() -> int:
    """A number that every migration of the WebCrawl database raises."""
    rows = MigrationRecorder(connections[WEBCRAWL]).migration_qs.order_by("-id")
    return rows.values_list("id", flat=True).first() or 0


def newer_schema() -> bool:
    """Whether migrations were applied that this code does not know."""
    loader = MigrationLoader(connections[WEBCRAWL])
    return not loader.applied_migrations.keys() <= loader.disk_migrations.keys()
