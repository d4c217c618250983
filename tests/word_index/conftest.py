"""A small site crawled over real HTTP and propagated: what the word index of it must say is written by hand."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from clearinghouse.database.digests import digest_of
from crawler.models import PageHead
from tests.crawler.conftest import crawl, make_document
from tests.flow.conftest import house, prepared_folder  # noqa: F401 - fixtures
from tests.postgres import postgres  # noqa: F401 - a fixture
from tests.propagation.test_servers import servers  # noqa: F401 - a fixture
from tests.propagation.world import propagate
from tests.sites.graph import Page, serve

LAST_MODIFIED = {"Last-Modified": "Thu, 16 Jun 2022 08:47:39 GMT"}
PAGES = {
    "/m/": Page(
        body=b"<title>Start</title><meta name=description content='About it'>"
        b"<p>Ward ward and the bed</p><a href=a.html>alpha</a> <a href=b.html>beta</a>"
    ),
    "/m/a.html": Page(
        body=b"<title>Alpha</title><p>Bed 7</p><a href=./>start</a> <a href=b.html>beta</a> <a href=a.html>the</a>",
        headers=LAST_MODIFIED,
    ),
    "/m/b.html": Page(body="<meta charset=utf-8><title>Beta</title><p>Café, don't</p>".encode()),
}


@dataclass
class Published:
    """The site as it stands on the targets."""

    address: str
    doc_id: int
    ids: dict[str, int]  # path -> page id


@pytest.fixture
def published(db) -> Iterator[Published]:
    with serve(PAGES) as site:
        document = make_document({"url": site.url("/m/")})
        crawl(document, speed="medium")  # one page after the other: their ids are in the order of their links
        assert propagate().state == "done"
        keys = {bytes(key): number for number, key in PageHead.objects.values_list("id", "url_key")}
        yield Published(site.address, document.pk, {path: keys[digest_of(site.url(path))] for path in PAGES})
