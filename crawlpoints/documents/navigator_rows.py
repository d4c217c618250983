"""How the Document Navigator shows the documents a filter leaves: counted, with what it offers to choose."""

from crawler.launching.document_filter import VIEWS, DocumentFilter, DocumentRow, all_rows, filtered, in_view
from crawler.runs.latest_crawls import trends

__all__ = ["SIZES", "VIEWS", "DocumentFilter", "DocumentRow", "all_rows", "choices", "enrich", "filtered",
           "in_view"]  # fmt: skip
SIZES = (20, 50, 100)


def enrich(rows: list[DocumentRow]) -> None:
    """Sparklines, only for the rows of the page."""
    found = trends([row.id for row in rows])
    for row in rows:
        row.trend = found.get(row.id, [])


def choices(rows: list[DocumentRow]) -> dict[str, list[str]]:
    """What the filter pane offers: only what occurs in what the person may see."""
    projects = {row.project for row in rows if row.project}
    statuses = {row.status for row in rows if row.status}
    people = {name for row in rows if row.assigned for name in row.assigned.split(", ")}
    return {"projects": sorted(projects), "statuses": sorted(statuses), "people": sorted(people)}
