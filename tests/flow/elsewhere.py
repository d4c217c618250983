"""Owns: houses whose four databases are on a PostgreSQL, which makes them from templates.

A prepared folder says by a note in it where its templates are, so that whoever copies the folder copies the house.
"""

from itertools import count
from pathlib import Path
from typing import Any

from tests.flow.house import House
from tests.postgres import NAMES, Server

_NOTE = "templates"
_numbers = count(1)


class Elsewhere(House):
    """A house with no database of its own."""

    def __init__(self, folder: Path, server: Server, number: int) -> None:
        super().__init__(folder)
        self._server, self._number = server, number
        for key, name in NAMES.items():
            self.env[f"CLEARINGHOUSE_{key}"] = server.url(self._name(name), like=f"like_{name}")

    def rows(self, database: str, sql: str) -> list[tuple[Any, ...]]:
        return self._server.execute(sql, database=self._name(database))

    def close(self) -> None:
        super().close()
        for name in NAMES.values():
            self._server.execute(f"DROP DATABASE {self._name(name)} WITH (FORCE)", database="postgres")

    def _name(self, database: str) -> str:
        return f"{database}{self._number}"


def prepare(folder: Path, server: Server) -> Path:
    """Its databases are the templates of all others; its folder has the keys that belong to them."""
    house = House(folder)
    house.env |= {f"CLEARINGHOUSE_{key}": server.url(f"like_{name}") for key, name in NAMES.items()}
    house.manage("prepare")
    (folder / _NOTE).write_text(str(server.folder))
    return folder


def moved_in(folder: Path) -> House:
    """The house of a copied folder: with files, or with copies of the templates it names."""
    note = folder / _NOTE
    if not note.exists():
        return House(folder)
    return Elsewhere(folder, Server.at(Path(note.read_text())), next(_numbers))
