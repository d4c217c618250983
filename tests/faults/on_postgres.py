"""A house whose WebCrawl database is a PostgreSQL: copied as a template is, and read as the dead left it."""

import shutil
import time
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.faults import site
from tests.faults.house import House
from tests.postgres import Server

WEBCRAWL = "CLEARINGHOUSE_DB_WEBCRAWL"
_LEFT = "SELECT count(*) FROM pg_stat_activity WHERE datname = '{}' AND backend_type = 'client backend'"
_PATIENCE = 5.0
_numbers = count(1)


@dataclass
class PostgresHouse(House):
    server: Server | None = None

    @property
    def webcrawl(self) -> str:
        return urlsplit(self.databases[WEBCRAWL]).path.removeprefix("/")

    def copy(self, folder: Path) -> "PostgresHouse":
        assert self.server
        shutil.copytree(self.var, folder)
        name = f"copy{next(_numbers)}"
        self.server.execute(f"CREATE DATABASE {name} TEMPLATE {self.webcrawl}", database="postgres")
        return PostgresHouse(folder, {WEBCRAWL: self.server.address(name)}, self.server)

    def as_left(self, query: str) -> list[tuple[Any, ...]]:
        """The connections of a dead process end a moment after it: what they were told before counts."""
        assert self.server
        deadline = time.monotonic() + _PATIENCE
        while self.server.execute(_LEFT.format(self.webcrawl), database="postgres") != [(0,)]:
            assert time.monotonic() < deadline, f"somebody still works in {self.webcrawl}"
            time.sleep(0.01)
        return self.server.execute(query, database=self.webcrawl)

    def remove(self) -> None:
        assert self.server
        super().remove()
        self.server.execute(f"DROP DATABASE {self.webcrawl} WITH (FORCE)", database="postgres")


def prepared(folder: Path, server: Server) -> PostgresHouse:
    """The house of the kills, its crawls in this cluster."""
    house = PostgresHouse(folder, {WEBCRAWL: server.url(f"prepared{next(_numbers)}")}, server)
    site.make(house, site.documents())
    return house
