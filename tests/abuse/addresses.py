"""Every address somebody may call, with what a POST of it sends: made from the routes and the matrix of tests/access.

Runs inside a house: python -m tests.abuse.addresses NAME prints them as JSON, one person's view of the demo.
"""

import json
import sys
from typing import Any, NamedTuple


class Call(NamedTuple):
    name: str
    method: str
    path: str
    body: str
    as_json: bool


LEAVES = {"sign-out", "password", "api-key-revoke", "sessions-end"}  # who calls these is nobody afterwards


def calls(person: str, silent: str) -> list[Call]:
    """Those the matrix gives this person an answer to; whatever fetches is sent to the silent site."""
    from tests.accounts.matrix import PEOPLE, QUERIES, ROOMS, ROWS
    from tests.accounts.routes import routes

    known, place, found = _known(silent), PEOPLE.index(person), []
    for route in {route.name: route for route in routes()}.values():
        if route.name not in ROWS or route.name.startswith(tuple(ROOMS)) or route.name in LEAVES:
            continue
        get, post, *data = ROWS[route.name]
        if not set(route.arguments) <= set(known):
            continue
        path, as_json = route.path(known), route.name.startswith("api-")
        if get[place] == "Y":
            found.append(Call(route.name, "GET", path + QUERIES.get(route.name, ""), "", as_json))
        if post[place] == "Y":
            sent = WORST.get(route.name, data[0] if data else {})
            text = json.dumps(sent).replace("SILENT", silent) if as_json else ""
            found.append(Call(route.name, "POST", path, text or _form(sent, silent), as_json))
    return found


_LONG = "https://x.example/" + "a" * 2000
# What each fetching or computing address can be sent at worst.
WORST: dict[str, dict[str, Any]] = {
    "crawl-points-test": {"url": "SILENT"},
    "api-fetch": {"url": "SILENT"},
    "api-explain": {"urls": [_LONG] * 200},
    "api-previews": {},
    "preview-start": {},
}


def _form(sent: dict[str, Any], silent: str) -> str:
    from urllib.parse import urlencode

    return urlencode({name: str(value).replace("SILENT", silent) for name, value in sent.items()})


def _known(silent: str) -> dict[str, Any]:
    """Rows of the demo, as far as it has them."""
    from clearinghouse.library.models import Document
    from clearinghouse.published.models import PublishedVersion
    from crawler.models import Finding, LedgerEntry, Run
    from crawlpoints.models import CrawlPointLink

    crawled = Run.objects.order_by("pk").values_list("excursions__doc_id", flat=True).first()
    document = Document.objects.order_by("pk").filter(**{"pk": crawled} if crawled else {}).first()
    link = CrawlPointLink.objects.filter(document=document).order_by("pk").first()
    run = Run.objects.order_by("pk").first()
    entry = LedgerEntry.objects.filter(version_id__isnull=False).first()
    page = PublishedVersion.objects.using("primary").first()
    finding = Finding.objects.first()
    rows = {
        "doc_id": document and document.pk, "point_id": link and link.crawl_point_id, "run_id": run and run.pk,
        "other_id": run and run.pk, "entry_id": entry and entry.pk, "version_id": entry and entry.version_id,
        "published_id": page and page.pk, "finding_id": finding and finding.pk,
    }  # fmt: skip
    words = {"topic": "crawl-points", "tab": "urls", "name": "coverage", "action": "pause", "rest": "nothing/"}
    return {name: value for name, value in rows.items() if value} | words


if __name__ == "__main__":
    import django

    django.setup()
    print(json.dumps(calls(sys.argv[1], sys.argv[2])))
