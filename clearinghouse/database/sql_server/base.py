"""Owns: Django's back end for SQL Server, with the parameters of grouped questions declared as wide as they are.

SQL Server takes a parameter in SELECT and the same one in GROUP BY for two different values, so mssql-django declares
a variable for each value of a question that groups. It forgets the length of bytes (VARBINARY alone holds one byte:
no digest is ever found), cannot compare pyodbc's bytearray, and counts characters where the server counts UTF-16.
"""

from typing import Any

from mssql.base import CursorWrapper
from mssql.base import DatabaseWrapper as MssqlDjango

_WIDEST_BYTES, _WIDEST_TEXT = 8_000, 4_000


class Cursor(CursorWrapper):  # type: ignore[misc]
    def format_group_by_params(self, query: str, params: Any) -> Any:
        plain = [bytes(one) if isinstance(one, bytearray | memoryview) else one for one in params or ()]
        query, params = super().format_group_by_params(query, plain or params)
        return query.removeprefix("DECLARE  \n"), params  # where every value is NULL, nothing is declared

    def _as_sql_type(self, typ: type, value: Any) -> str:
        if isinstance(value, bytes):
            return _declared("VARBINARY", len(value), _WIDEST_BYTES)
        if isinstance(value, str):
            return _declared("NVARCHAR", len(value.encode("utf-16-le", "surrogatepass")) // 2, _WIDEST_TEXT)
        return str(super()._as_sql_type(typ, value))


def _declared(kind: str, length: int, widest: int) -> str:
    return f"{kind}({max(1, length) if length <= widest else 'max'})"


class DatabaseWrapper(MssqlDjango):  # type: ignore[misc]
    def create_cursor(self, name: str | None = None) -> Cursor:
        return Cursor(self.connection.cursor(), self)
