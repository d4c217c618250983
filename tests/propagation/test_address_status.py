"""Why is this page not in search? The first step that stops it is the reason, and each has its next step."""

from html import unescape
from typing import Any

import pytest
from django.db import OperationalError, connections
from django.test import Client

from clearinghouse.library.models import Document
from clearinghouse.published.models import PublishedVersion
from clearinghouse.search import backends
from crawlpoints import services
from crawlpoints.models import CrawlPoint, ExcludeUrl
from tests.propagation.world import ROOT, World, add_document, propagate

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def published(world: World) -> Document:
    found = add_document()
    world.run(found, {"": "start", "1.html": "one"}, also={"gone.html": ("failed", "http_4xx", 404)})
    propagate()
    return found


@pytest.fixture
def ask(signed_in: Any, administrator: Any) -> Any:
    browser: Client = signed_in(administrator)

    def asked(url: str) -> str:
        answer = browser.get("/search-tools/missing/", {"url": url})
        assert answer.status_code == 200
        return unescape(answer.content.decode())

    return asked


def test_a_page_that_is_there_is_there(ask: Any, published: Document) -> None:
    text = ask(f"{ROOT}1.html")
    assert "It is in search." in text
    assert "Primary production, which serves the public, has it in generation 1." in text
    assert "/search/result/" in text and "Stop:" not in text


def test_an_address_of_no_document_says_what_is_needed(ask: Any, published: Document) -> None:
    assert "No document of yours has a crawl point on this site" in ask("https://elsewhere.example/")
    assert "Enter a whole web address" in ask("elsewhere")


def test_outside_the_root_and_excluded_are_said_with_the_tester(ask: Any, published: Document) -> None:
    CrawlPoint.objects.update(root=f"{ROOT}measures/")
    text = ask(f"{ROOT}1.html")
    assert "It is still in search. With the current settings it is not crawled, because it does not begin" in text
    CrawlPoint.objects.update(root=ROOT)
    services.add_exclude_url(published, f"{ROOT}1*")
    assert ExcludeUrl.objects.count() == 1
    text = ask(f"{ROOT}1.html")
    assert "Test this address" in text and "because it matches an exclude URL (" in text and f"{ROOT}1*" in text
    ExcludeUrl.objects.all().delete()
    CrawlPoint.objects.update(depth=0)
    assert "Only if the start page redirects to it: the depth limit is 0." in ask(f"{ROOT}1.html")


def test_never_crawled_and_not_met_are_different(ask: Any, world: World) -> None:
    document = add_document()
    text = ask(f"{ROOT}1.html")
    assert "This document was never crawled." in text and "Launch a crawl" in text
    world.run(document, {"": "start"})
    assert "did not find this address: no crawled page links to it." in ask(f"{ROOT}1.html")


def test_a_failed_page_says_what_its_site_answered(ask: Any, published: Document) -> None:
    text = ask(f"{ROOT}gone.html")
    assert "Run 1: Not crawled, because" in text and "See the decision" in text


def test_crawled_after_the_last_propagation_waits_for_the_next(ask: Any, world: World, published: Document) -> None:
    late = world.run(published, {"": "start", "1.html": "one", "new.html": "new"})
    type(late).objects.filter(pk=late.pk).update(finished_at="2099-01-01T00:00:00Z")
    text = ask(f"{ROOT}new.html")
    assert "does not have it in generation 1; it was crawled after the last propagation." in text
    propagate()
    assert "It is in search." in ask(f"{ROOT}new.html")


def test_a_document_that_is_not_public_stays_at_home(ask: Any, world: World) -> None:
    document = add_document("Draft", public=False)
    world.run(document, {"": "start"})
    propagate()
    text = ask(ROOT)
    assert "The document is not public: its pages go to content development only." in text
    assert "Content development has it in generation 1." in text


def test_what_left_says_when(ask: Any, world: World, published: Document) -> None:
    for _ in range(2):
        world.run(published, {"": "start"}, also={"1.html": ("failed", "http_4xx", 404)})
    propagate(accepted_losses=[published.pk])
    assert "showed it until generation 2 removed it." in ask(f"{ROOT}1.html")


def test_a_page_outside_the_index_is_noticed(ask: Any, published: Document) -> None:
    page = PublishedVersion.objects.using("primary").get(url=f"{ROOT}1.html")
    backends.backend("primary").remove([page.pk])
    assert "has it in generation 1, but not in its index." in ask(f"{ROOT}1.html")


def test_a_page_that_results_fold_under_another_names_it(ask: Any, world: World, published: Document) -> None:
    assert "folded under" not in ask(f"{ROOT}1.html")
    same = "one and the same long sentence about the safety of patients in hospitals"
    world.run(published, {"": "start", "1.html": same})
    for title in ("The other document", "A third"):
        world.run(add_document(title), {"1.html": same})
        propagate()
    text = ask(f"{ROOT}1.html")
    assert "It is in search." in text
    assert f"folded under one of 2 pages that are nearly the same, like {ROOT}1.html (document The other" in text


def test_a_server_that_does_not_answer_is_said(ask: Any, published: Document) -> None:
    def away(execute: Any, sql: str, *rest: Any) -> Any:
        if "published_version" in sql:
            raise OperationalError("no connection")
        return execute(sql, *rest)

    with connections["backup"].execute_wrapper(away):
        assert "Backup production does not answer." in ask(f"{ROOT}1.html")


def test_nobody_learns_of_the_documents_of_others(signed_in: Any, stranger: Any, published: Document) -> None:
    text = signed_in(stranger).get("/search-tools/missing/", {"url": f"{ROOT}1.html"}).content.decode()
    assert published.title not in text and "No document of yours" in text
    for odd in ("\x00", "http://[", "x" * 9000, "javascript:alert(1)", "https://a.example/%ff"):
        assert signed_in(stranger).get("/search-tools/missing/", {"url": odd}).status_code == 200
