"""doc_crawl_page and crawl_page_meta are views with all columns of the dictionary, on every server we know."""

import re

import pytest
from django.core.management import call_command
from django.db import connections

from clearinghouse.database.adoption import database_views
from tests.adoption.conftest import FILES, Install
from tests.adoption.old_library import DICTIONARY

VENDORS = ("sqlite", "postgresql", "microsoft")


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("alias", FILES)
@pytest.mark.parametrize("name", database_views.NAMES)
def test_a_view_names_each_column_of_the_dictionary(vendor: str, alias: str, name: str) -> None:
    database = "webcrawl" if alias == "webcrawl" else "doc_library"
    selected = re.search(r"SELECT (.*?)\n\s*FROM", database_views.view_sql(alias, name, vendor), re.DOTALL)[1]
    columns = [re.search(r"(\w+)$", line.strip().rstrip(","))[1] for line in selected.split("\n")]
    assert sorted(columns) == sorted([*DICTIONARY["databases"][database][name]["columns"], *DICTIONARY["metacolumns"]])


def test_pages_and_their_metas_are_seen_in_webcrawl_as_soon_as_they_are_stored(fresh: Install) -> None:
    fresh.python(
        """
import json
from django.utils import timezone
from clearinghouse.database.digests import digest_of
from crawler.models import PageBody, PageHead, PageVersion
url, body = "https://a.example/ä?x=1", b"<p>\\x00exact\\xff"
PageBody.objects.create(digest=digest_of(body), content=body)
version = PageVersion.objects.create(run_id=1, doc_id=5, url_key=digest_of(url), url=url, digest=digest_of(body),
    type_id=1, extension=".htm", title="Ä", found_at=timezone.now(),
    metas=json.dumps([["author", "Ann \\"Q\\""], ["keywords", "a, b"], ["empty", ""]]))
PageHead.objects.create(id=3, doc_id=5, url_key=version.url_key, version_id=version.pk)
"""
    )
    page = fresh.rows("webcrawl", "SELECT doc_crawl_page_id, crawl_page_url, title_str, page_ext FROM doc_crawl_page")
    assert page == [(3, "https://a.example/ä?x=1", "Ä", ".htm")]
    ((body,),) = fresh.rows("webcrawl", "SELECT crawl_file FROM doc_crawl_page")
    assert bytes(body) == b"<p>\x00exact\xff"
    columns = "crawl_page_meta_id, doc_crawl_page_id, name_str, content_str"
    assert fresh.rows("webcrawl", f"SELECT {columns} FROM crawl_page_meta ORDER BY 1") == [
        (768, 3, "author", 'Ann "Q"'),
        (769, 3, "keywords", "a, b"),
        (770, 3, "empty", ""),
    ]


def test_a_target_shows_exactly_its_live_generation(fresh: Install) -> None:
    fresh.python(
        """
from django.utils import timezone
from clearinghouse.published.models import *
now = timezone.now()
for number, (first, last) in enumerate([(1, OPEN), (1, 2), (2, OPEN), (3, OPEN)], start=1):
    version = PublishedVersion.objects.using("backup").create(doc_id=1, page_id=number, digest=b"d", url_key=b"k",
        url=f"https://a.example/{number}", host="a.example", type_id=1, crawled_at=now, created_at=now, updated_by="x")
    PublishedMeta.objects.using("backup").create(published_id=version.pk, name="n", content=str(number))
    PublishedInterval.objects.using("backup").create(published_id=version.pk, doc_id=1, gen_from=first, gen_to=last)
"""
    )

    def seen(generation: int) -> list[tuple]:
        fresh.rows("backup", f"UPDATE live_generation SET generation = {generation} RETURNING 1")
        pages = fresh.rows("backup", "SELECT doc_crawl_page_id FROM doc_crawl_page ORDER BY 1")
        metas = fresh.rows("backup", "SELECT doc_crawl_page_id FROM crawl_page_meta ORDER BY 1")
        assert pages == metas
        return [page for (page,) in pages]

    assert [seen(generation) for generation in (0, 1, 2, 3, 1)] == [[], [1, 2], [1, 3], [1, 3, 4], [1, 2]]


def test_every_database_has_the_rows_it_needs(fresh: Install) -> None:
    for alias in FILES:
        assert fresh.rows(alias, "SELECT name_str FROM crawl_page_type WHERE crawl_page_type_id = 1") == [("HTML",)]
    for alias in ("default", "primary", "backup"):
        assert fresh.rows(alias, "SELECT count(*) FROM live_generation") == [(1,)]
    assert fresh.rows("webcrawl", "SELECT serving FROM public_switch") == [("primary",)]
    assert fresh.rows("default", "SELECT name_str FROM field_type") == [("crawl points",)]
    assert len(fresh.rows("default", "SELECT name_str FROM doc_status")) == 3


@pytest.mark.django_db(databases=["default"], transaction=True)
def test_migrating_again_or_back_leaves_the_views_as_they_belong() -> None:
    connection = connections["default"]
    call_command("migrate", "published", "zero", database="default", verbosity=0)
    assert not set(database_views.NAMES) & set(_views(connection))
    call_command("migrate", database="default", verbosity=0)
    assert set(database_views.NAMES) <= set(_views(connection))
    call_command("migrate", database="default", verbosity=0)
    assert set(database_views.NAMES) <= set(_views(connection))


def _views(connection: object) -> list[str]:
    with connection.cursor() as cursor:
        return [info.name for info in connection.introspection.get_table_list(cursor) if info.type == "v"]
