"""What the lists of addresses show beside each row: the rule, the page it was found on. Pure."""

from collections.abc import Iterable

from crawler.ledger.queries import Row
from crawler.ledger.views.why_views import site_of


def shown(rows: Iterable[Row], asked_why: str = "") -> None:
    for row in rows:
        row.extra["rule"] = rule_of(row)
        row.extra["found_on"] = found_on_of(row)
        row.extra["opened"] = row.key == asked_why


def rule_of(row: Row) -> str:
    """The rule that decided, as short as it can be said."""
    if not row.told:
        return ""
    if row.reason == "outside_root":
        path = row.detail.removeprefix(site_of(row.detail))
        return f"root …/{path}" if path and path != row.detail else f"root {row.detail}"
    if row.reason == "excluded":
        return f"exclude {row.detail}"
    return row.detail


def found_on_of(row: Row) -> str:
    """The address of the page it was found on, without the site when that is the same."""
    if row.parent is None:
        return ""
    site = site_of(row.url)
    url = row.parent.url
    return "/" + url.removeprefix(site) if site and url.startswith(site) else url
