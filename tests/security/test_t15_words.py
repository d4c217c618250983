"""Threats T15 and T35: what is typed is a value. It reaches no SQL, no ORM lookup, no template, no format string."""

from typing import Any

import pytest

from clearinghouse.library.models import Document
from crawler.inbox.notice_mail import text_of
from crawler.models import CrawlRequest, Delivery, Notice
from crawlpoints import services
from crawlpoints.point_checks import Invalid
from crawlpoints.queries import points_of
from tests.accounts.routes import arguments, everybody, project_one, routes
from tests.accounts.test_routes import browser, reachable
from tests.crawler.conftest import crawl, make_document
from tests.sites.misbehaving import Site

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


@pytest.mark.parametrize(
    "append",
    ["@127.0.0.1:{other}/", "//127.0.0.1:{other}/", ":{other}/", "\\\\@127.0.0.1:{other}/", "?print=1", "print",
     "/../../stolen", "/%2e%2e/%2E./x"],
)  # fmt: skip
def test_t35_append_text_leads_to_no_other_page(append: str) -> None:
    """What is really sent: under the address it is put behind, whose rules and whose password go with it."""
    with Site() as site, Site() as other:
        text = append.format(other=other.port)
        url = site.url("/measures/")
        document = make_document({"url": url, "append": text, "auth_type": 1, "login": "u"})
        services.update_crawl_point(points_of(document).get(), {"password": "swordfish"})
        crawl(document)
        asked = [one.target for one in site.log if one.target != "/robots.txt"]
        assert other.log == [] and [target for target in asked if not target.startswith("/measures/")] == []
        assert bool(asked) != ("/.." in text or "%2e" in text)


def test_t35_an_append_text_with_spaces_is_not_saved(document: Document) -> None:
    url = "https://quality.example.gov/measures/"
    with pytest.raises(Invalid):
        services.add_crawl_point(document, {"url": url, "root": url, "append": "@evil .example"})
