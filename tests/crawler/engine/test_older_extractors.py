"""Pages that an older extractor read: their stored bytes are read again, nobody is asked for them."""

from collections.abc import Callable

import pytest

from crawler import extract
from crawler.ledger.ledger_check import faults
from crawler.models import PageHead, PageVersion, Run
from tests.crawler.conftest import crawl, make_document
from tests.proves import proves
from tests.sites.graph import Page, html, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]


@proves("rule 15")
def test_a_page_read_by_an_older_extractor_is_read_again_from_its_stored_bytes(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = {"/": Page(["/a"], headers={"ETag": '"1"'}), "/a": Page(body=html("A", []))}
    with serve(pages) as site:
        document = make_document({"url": site.url("/")})
        crawl(document)
        PageVersion.objects.update(text="as an older extractor read it")
        monkeypatch.setattr(extract, "EXTRACTOR", extract.EXTRACTOR + 1)
        site.pages["/"] = Page(status=304)
        second = crawl(document)
    assert ledger(second) == {"/": "unchanged", "/a": "unchanged"}
    shown = PageVersion.objects.filter(id__in=PageHead.objects.values("version_id"))
    assert {version.extractor for version in shown} == {extract.EXTRACTOR}
    assert not any("older extractor" in version.text for version in shown)
    assert faults(second) == []
