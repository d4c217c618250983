"""Threats T15 and T35: what is typed is a value. It reaches no SQL, no ORM lookup, no template, no format string."""

from typing import Any

import pytest

from clearinghouse.library.models import Document
from crawler.explain import explain
from crawler.intake import snapshot_of
from crawler.models import CrawlRequest, Delivery, Notice
from crawler.telling import text_of
from crawlpoints import services
from crawlpoints.checks import Invalid
from tests.access.routes import arguments, everybody, project_one, routes
from tests.access.test_routes import browser, reachable

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
NAMES = (
    "q", "text", "sort", "page", "doc", "kind", "state", "reason", "outcome", "depth", "site", "view", "project", "who",
    "status", "age", "days", "actor", "show", "group", "with", "select", "point", "since", "rule", "order_by",
    "_connector", "_negated", "pk__in", "password__startswith", "rows", "host", "type", "language",
)  # fmt: skip
WORDS = (
    "' OR 1=1 --", "'; DROP TABLE crawl_point; --", '" UNION SELECT crawl_pw_str FROM crawl_point --', "1) OR (1=1",
    "password", "-password__startswith", "excursion__run__note", "sheet__document__crawl_point_links", "?", "-?",
    "\x00",
    "99999999999999999999", "-1", "%' ESCAPE '", "NEAR(", "a AND (", '"', "regex:(", "{{7*7}}", "{0.__class__}", "%s%n",
)  # fmt: skip


def test_t15_every_parameter_of_every_page_takes_anything(db: Any) -> None:
    """Each page is asked with all names at once and some of the words: 200, 400 or 404, never a fault of ours."""
    own, other = project_one()
    people = everybody(own, other)
    given = arguments(people, own)
    client = browser(people, "administrator")
    reads = [
        route for route in routes() if route.name and reachable(route) and not route.name.startswith(("admin:", "sign"))
    ]
    assert len(reads) > 80
    for number, route in enumerate(reads):
        path = route.path(given)
        for word in (WORDS[number % len(WORDS)], WORDS[(7 * number + 11) % len(WORDS)]):
            response = client.get(path, dict.fromkeys(NAMES, word))
            assert response.status_code < 500, (route.name, word)
            if "html" in response.get("Content-Type", "") and not response.streaming:
                assert "OperationalError" not in response.content.decode()
    assert services.add_crawl_point(own, {"url": "https://a.example/", "root": "https://a.example/"})


def test_t15_the_api_refuses_names_it_does_not_know(program: Any, editor: Any, document: Document) -> None:
    for name in ("_connector", "order_by", "password__startswith", "sheet__project__people"):
        assert program(editor).ask("GET", f"documents/?{name}=x")[0] == 400
    for path in (f"documents/{document.pk}/crawl-points/", "documents/", "runs/"):
        assert program(editor).ask("GET", f"{path}?sort=password")[0] == 400


def test_t35_a_notice_is_text_whatever_stands_in_it(document: Document, editor: Any) -> None:
    words = "{{7*7}} {% debug %} {0.__class__} %(password)s ${7*7}"
    notice = Notice.objects.create(key="k", event="request", at=document.created_at, sentence=words, link="/")
    delivery = Delivery.objects.create(notice=notice, person_id=editor.pk, because="you asked")
    assert words in text_of([delivery])


def test_t35_what_people_write_is_shown_as_they_wrote_it(
    signed_in: Any, editor: Any, administrator: Any, document: Document
) -> None:
    words = "{{7*7}} {% debug %} {0.__class__}"
    services.add_crawl_point(document, {"url": "https://ex.gov/a/", "root": "https://ex.gov/a/"})
    signed_in(editor).post(f"/documents/{document.pk}/request-crawl/", {"note": words})
    assert CrawlRequest.objects.get().note == words
    assert words in signed_in(administrator).get("/").content.decode()


@pytest.mark.parametrize("append", ["@evil.example/", "//evil.example/", ".evil.example/", ":8080/", "\\@evil.example"])
def test_t35_append_text_leads_to_no_other_site(document: Document, append: str) -> None:
    url = "https://quality.example.gov/measures/"
    try:
        services.add_crawl_point(document, {"url": url, "root": url, "append": append})
    except Invalid:
        return
    answer = explain(snapshot_of(document), url)
    assert answer["verdict"] != "yes" or "evil" not in str(answer["url"]).split("/")[2]
