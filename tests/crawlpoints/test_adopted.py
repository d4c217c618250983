"""Crawl points another program wrote get their keys, so that nobody adds them a second time."""

import pytest

from clearinghouse.library.models import Document
from crawlpoints.adopted_keys import fill_keys
from crawlpoints.models import CrawlPoint, CrawlPointLink, ExcludeUrl

pytestmark = pytest.mark.django_db


def test_each_address_gets_one_key_and_rows_keep_their_version() -> None:
    document = Document.objects.create()
    for _ in range(2):
        point = CrawlPoint.objects.create(url="https://a.example/", root="https://a.example/")
        CrawlPointLink.objects.create(document=document, crawl_point=point)
        ExcludeUrl.objects.create(document=document, pattern="https://a.example/x")
    rows = CrawlPoint.objects.order_by("pk").values_list("pk", "version", "updated_at")
    before = list(rows)
    assert fill_keys() == ["1 crawl point got a key", "1 exclude URL got a key"]
    assert [key is None for key in CrawlPoint.objects.order_by("pk").values_list("key", flat=True)] == [False, True]
    assert list(rows.all()) == before
    assert fill_keys() == []


def test_a_null_where_the_dictionary_allows_none_is_read_as_the_url_alone() -> None:
    names = ["id", "url", "root", "depth"]
    point = CrawlPoint.from_db("default", names, [7, "https://a.example/x", None, None])
    assert (point.root, point.depth) == ("https://a.example/x", 0)
    kept = CrawlPoint.from_db("default", names, [7, "https://a.example/x", "https://a.example/", 3])
    assert (kept.root, kept.depth) == ("https://a.example/", 3)
