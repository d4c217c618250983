"""Owns: CSV that a spreadsheet cannot be tricked with: a risky first character gets an apostrophe before it.

Does not: decide what is exported. Called by: screens of both apps.
"""

import csv
from collections.abc import Iterable, Iterator
from typing import Any

from django.http import StreamingHttpResponse

_RISKY = ("=", "+", "-", "@", "\t", "\r", "\n")


class _Echo:
    def write(self, line: str) -> str:
        return line


def safe_cell(value: Any) -> Any:
    text = "" if value is None else value
    return f"'{text}" if isinstance(text, str) and text.startswith(_RISKY) else text


def csv_answer(name: str, head: Iterable[str], rows: Iterable[Iterable[Any]]) -> StreamingHttpResponse:
    """A download, written row by row; UTF-8 with a mark, so that spreadsheets read accents."""
    writer = csv.writer(_Echo())

    def lines() -> Iterator[str]:
        yield "\ufeff"
        yield writer.writerow(list(head))
        for row in rows:
            yield writer.writerow([safe_cell(cell) for cell in row])

    answer = StreamingHttpResponse(lines(), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
