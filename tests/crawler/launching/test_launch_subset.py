"""Launches over less than everything: what they fetch, what they leave alone, and that nothing goes missing by them."""

from typing import Any

import pytest

from crawler.errors import NothingToCrawl
from crawler.findings.diagnosis import diagnose_due
from crawler.launching.launch import LaunchRequest, launch, scope
from crawler.launching.launch_subset import SubsetChoice
from crawler.models import Excursion, Finding, LedgerEntry, PageHead, Run
from crawler.propagation.loading import collect
from crawler.propagation.pinned_scope import pin
from crawler.runs.crawl_changes import excursion_before
from crawlpoints.models import CrawlPoint
from tests.crawler.conftest import crawl, go_on, make_document
from tests.sites.graph import Page, Site, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
FAILED, NEW = SubsetChoice("failed"), SubsetChoice("new")


def pages() -> dict[str, Page]:
    return {
        "/a/": Page(["/a/one", "/a/sick"]), "/a/one": Page(["/b/", "/a/sick"]), "/a/sick": Page(status=500),
        "/a/below": Page(), "/b/": Page(["/b/one"]), "/b/one": Page(),
    }  # fmt: skip


def two_points(site: Site) -> Any:
    return make_document({"url": site.url("/a/")}, {"url": site.url("/b/")})


def part_of(document: Any, choice: SubsetChoice) -> Run:
    return go_on(launch(LaunchRequest([document.pk], by="test", speed="fast", choice=choice)))


def outcomes(run: Run) -> dict[str, str]:
    rows = LedgerEntry.objects.filter(excursion__run=run)
    return {"/" + row.url.split("/", 3)[-1]: row.reason or row.outcome for row in rows}


def test_only_failed_fetches_the_pages_that_failed_and_no_other() -> None:
    with serve(pages()) as site:
        document = two_points(site)
        crawl(document)
        site.pages["/a/sick"] = Page(["/a/below", "/a/one"])
        assert scope([document.pk], FAILED) | {"inactive": 0} == {
            "documents": 1, "points": 2, "pages": 1, "inactive": 0, "busy": [],
        }  # fmt: skip
        run = part_of(document, FAILED)
        assert outcomes(run) == {"/a/sick": "crawled", "/a/below": "too_deep", "/a/one": "too_deep"}
        assert PageHead.objects.filter(doc_id=document.pk).count() == 5
        with pytest.raises(NothingToCrawl, match="No page of the chosen documents failed in its last crawl"):
            part_of(document, FAILED)


def test_only_new_takes_crawl_points_never_crawled_or_changed_since() -> None:
    with serve(pages()) as site:
        document = two_points(site)
        assert part_of(document, NEW).excursions.get().part == ""
        with pytest.raises(NothingToCrawl, match="is new or was changed"):
            part_of(document, NEW)
        CrawlPoint.objects.filter(url=site.url("/b/")).update(depth=5)
        assert scope([document.pk], NEW)["points"] == 1
        run = part_of(document, NEW)
        assert run.excursions.get().part == "new" and outcomes(run) == {"/b/": "unchanged", "/b/one": "unchanged"}
        with pytest.raises(NothingToCrawl):
            part_of(document, NEW)


def test_one_crawl_point_leaves_the_others_alone_and_nothing_goes_missing() -> None:
    with serve(pages()) as site:
        document = two_points(site)
        whole = crawl(document).excursions.get()
        point = CrawlPoint.objects.get(url=site.url("/a/"))
        for _ in range(3):  # two runs that miss a page take it away, but not these
            run = part_of(document, SubsetChoice(point_id=point.pk))
            assert outcomes(run)["/b/"] == "outside_root"
        (scope,) = [one for one in pin().documents if one.doc_id == document.pk]
        shown = {page.version_id for page in collect.Collector().pages(scope, "primary").values()}
        stored = LedgerEntry.objects.filter(excursion=whole, version_id__isnull=False)
        assert shown == set(stored.values_list("version_id", flat=True)) and len(shown) == 4
        following = crawl(document).excursions.get()
        assert excursion_before(following) == whole


def test_a_part_is_not_judged_as_if_it_were_the_whole() -> None:
    with serve(pages()) as site:
        document = two_points(site)
        crawl(document)
        point = CrawlPoint.objects.get(url=site.url("/b/"))
        run = part_of(document, SubsetChoice(point_id=point.pk))
        diagnose_due()
        assert not Finding.objects.filter(run_id=run.pk, rule__in=("drop", "only_start", "tiny")).exists()
        assert Excursion.objects.get(run=run).part == "point"


def test_a_crawl_point_that_is_not_active_is_refused_in_words() -> None:
    document = make_document({"url": "http://127.0.0.1:1/", "active": 0}, {"url": "http://127.0.0.1:1/x/"})
    point = CrawlPoint.objects.get(active=0)
    with pytest.raises(NothingToCrawl, match="This crawl point is not active"):
        launch(LaunchRequest([document.pk], by="test", choice=SubsetChoice(point_id=point.pk)))
