"""Threat T36: the public reads databases in which there is nothing to find but published pages."""

import json
from typing import Any

import pytest
from django.db import connections

from clearinghouse.database.aliases import BACKUP, DEFAULT, PRIMARY, TARGETS
from clearinghouse.published.models import PublishedVersion
from crawlpoints import services
from tests.propagation.world import World, add_document, propagate

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SECRETS = ("swordfish", "internal-note", "hidden-login", "secret-exclude", "no-answer.html", "Draft document")
ALLOWED = {
    "crawl_page_type", "published_version", "published_meta", "published_interval", "published_document",
    "live_generation", "lexicon", "lexicon_state", "doc_crawl_page", "crawl_page_meta", "django_migrations",
}  # fmt: skip


@pytest.fixture
def propagated() -> None:
    document = add_document("Measures of hospital quality")
    url = "https://quality.example.org/private/"
    values = {"url": url, "root": url, "auth_type": 1, "login": "hidden-login", "password": "swordfish"}
    services.add_crawl_point(document, values | {"note": "internal-note"})
    services.add_exclude_url(document, "https://quality.example.org/secret-exclude*")
    world = World()
    world.run(document, {"": "start", "1.html": "one"}, also={"no-answer.html": ("failed", "http_4xx", 404)})
    draft = add_document("Draft document", public=False)
    world.run(draft, {"draft.html": "nobody should read this yet"})
    propagate()


@pytest.mark.parametrize("alias", [PRIMARY, BACKUP])
def test_t36_a_target_has_the_published_tables_and_no_others(propagated: None, alias: str) -> None:
    """No crawl point, no credential, no user, no audit: there is no table for them."""
    connection = connections[alias]
    with connection.cursor() as cursor:
        names = set(connection.introspection.table_names(cursor, include_views=True))
        columns = {
            column.name for table in names for column in connection.introspection.get_table_description(cursor, table)
        }
    assert "published_version" in names
    assert {name for name in names - ALLOWED if not name.startswith(("published_", "search_", "fts_"))} == set()
    for word in ("password", "crawl_pw", "login", "crawl_id_str", "note", "exclude", "reason"):
        assert not [name for name in columns if word in name], word


@pytest.mark.parametrize("alias", [PRIMARY, BACKUP])
def test_t36_and_in_them_nothing_of_the_house(propagated: None, alias: str) -> None:
    connection = connections[alias]
    with connection.cursor() as cursor:
        names = connection.introspection.table_names(cursor, include_views=True)
        text = ""
        for name in names:
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(name)}")
            text += json.dumps(cursor.fetchall(), default=repr)
    assert "quality.example.org/1.html" in text
    for secret in (*SECRETS[:5], "tester"):  # who launched and propagated is nobody's business
        assert secret not in text, secret


def test_t36_a_document_that_is_not_public_is_found_by_nobody(client: Any, propagated: None) -> None:
    assert "quality.example.org/1.html" in client.get("/search/?q=one").content.decode()
    for asked in ("q=nobody+should+read", "q=draft", "q=document:Draft", "q=nobody&document=2"):
        page = client.get(f"/search/?{asked}").content.decode()
        assert "draft.html" not in page and "Draft document" not in page, asked
    drafts = PublishedVersion.objects.filter(url__endswith="/draft.html")
    assert [alias for alias in TARGETS.values() if drafts.using(alias)] == [DEFAULT]
