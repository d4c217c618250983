"""Owns: reading what the public looked for. Does not: write. Called by: the report Search use."""

from datetime import date
from typing import Any

from django.db.models import Max, QuerySet, Sum

from clearinghouse.database.aliases import WEBCRAWL
from clearinghouse.search.models import SearchUse


def rows_since(day: date) -> QuerySet[SearchUse]:
    return SearchUse.objects.using(WEBCRAWL).filter(day__gte=day)


def by_query(rows: QuerySet[SearchUse]) -> QuerySet[Any]:
    """Each query with its sums over the period."""
    return rows.values("query").annotate(
        total=Sum("searches"), nothing=Sum("empty"), clicks=Sum("opened"), last=Max("day")
    )


def by_day(rows: QuerySet[SearchUse]) -> list[tuple[date, int, int]]:
    """Day, searches, and those of them that found nothing."""
    days = rows.values("day").annotate(n=Sum("searches"), nothing=Sum("empty")).order_by("day")
    return [(row["day"], row["n"], row["nothing"]) for row in days]


def newest_found(queries: list[str], rows: QuerySet[SearchUse]) -> dict[str, int]:
    """How many pages the last search for each of these found."""
    found = rows.filter(query__in=queries, searches__gt=0).order_by("day").values_list("query", "found")
    return dict(found)
