"""Owns: searching in a column without regard to case, in every script and on every server.

SQLite's LIKE knows the cases of A to Z only: ÉTUDE was found by *étude* on PostgreSQL and nowhere here. GLOB compares
letter for letter, but takes a set of letters at each place. Called by: every `icontains` and `iexact`, once registered.
"""

from typing import Any

from django.db.models import CharField, TextField
from django.db.models.lookups import IContains, IExact


class InAnyCase(IContains):
    def as_sqlite(self, compiler: Any, connection: Any) -> Any:
        text = self.rhs
        if not isinstance(text, str) or text.isascii() or not text:
            return self.as_sql(compiler, connection)  # LIKE is faster
        left, params = self.process_lhs(compiler, connection)
        return f"{left} GLOB %s", [*params, pattern_of(text)]


class EqualInAnyCase(IExact):
    def as_sqlite(self, compiler: Any, connection: Any) -> Any:
        text = self.rhs
        if not isinstance(text, str) or text.isascii():
            return self.as_sql(compiler, connection)
        left, params = self.process_lhs(compiler, connection)
        return f"{left} GLOB %s", [*params, pattern_of(text)[1:-1]]


def pattern_of(text: str) -> str:
    """For GLOB: each letter in any of its cases, every other character as it is."""
    return f"*{''.join(_cases(letter) for letter in text)}*"


def _cases(letter: str) -> str:
    cases = sorted({one for one in (letter, letter.lower(), letter.upper(), letter.title()) if len(one) == 1})
    return letter if len(cases) == 1 and letter not in "*?[" else f"[{''.join(cases)}]"


def register() -> None:
    for field in (CharField, TextField):
        field.register_lookup(InAnyCase, "icontains")
        field.register_lookup(EqualInAnyCase, "iexact")
