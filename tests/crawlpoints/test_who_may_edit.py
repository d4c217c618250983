"""Five questions to every view: it works, it needs a sign-in, strangers get 404, readers may not write, GET changes
nothing."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from clearinghouse.audit.models import Entry
from clearinghouse.library.models import Document
from crawler.models import Preview
from crawlpoints import services
from crawlpoints.models import CrawlPoint, ExcludeUrl

pytestmark = pytest.mark.django_db(databases="__all__")

# name, more arguments than the document, may a reader see it
PAGES = [
    ("document", False, True),
    ("crawl-points", False, True),
    ("crawl-points-export", False, True),
    ("crawl-points-test", False, True),
    ("crawl-points-test-export", False, True),
    ("crawl-points-running", False, True),
    ("previews", False, True),
    ("crawl-point-look", True, False),
    ("exclude-urls", False, True),
    ("exclude-urls-export", False, True),
    ("document-history", False, True),
    ("crawl-points-import", False, False),
    ("exclude-urls-import", False, False),
    ("crawl-point-new", False, False),
    ("crawl-point-edit", True, False),
]
COMMANDS = [
    ("crawl-points-choose", False),
    ("crawl-points-delete", False),
    ("crawl-points-restore", False),
    ("crawl-points-bulk", False),
    ("crawl-points-undo", False),
    ("crawl-points-import", False),
    ("exclude-urls-import", False),
    ("crawl-point-new", False),
    ("crawl-point-edit", True),
    ("crawl-point-fix", True),
    ("crawl-point-use", True),
    ("exclude-urls-apply", False),
    ("exclude-urls", False),
    ("exclude-urls-delete", False),
    ("exclude-urls-restore", False),
]
page_names = [name for name, _, _ in PAGES]
command_names = [name for name, _ in COMMANDS]


def address(name: str, document: Document, point: CrawlPoint, with_point: bool) -> str:
    return reverse(name, args=[document.pk, *([point.pk] if with_point else [])])


def traces() -> tuple[int, int, int]:
    return CrawlPoint.everything.count(), ExcludeUrl.everything.count(), Entry.objects.count()


@pytest.mark.parametrize(("name", "with_point", "for_readers"), PAGES, ids=page_names)
def test_a_page_answers_its_editor_and_changes_nothing(
    name: str, with_point: bool, for_readers: bool, document: Document, point: CrawlPoint, editor: Any, signed_in: Any
) -> None:
    before = traces()
    assert signed_in(editor).get(address(name, document, point, with_point)).status_code == 200
    assert traces() == before


@pytest.mark.parametrize(("name", "with_point", "for_readers"), PAGES, ids=page_names)
def test_a_page_needs_a_sign_in_and_does_not_exist_for_strangers(
    name: str, with_point: bool, for_readers: bool, document: Document, point: CrawlPoint, stranger: Any, signed_in: Any
) -> None:
    url = address(name, document, point, with_point)
    answer = Client().get(url)
    assert answer.status_code == 302 and answer["Location"].startswith(reverse("sign-in"))
    assert signed_in(stranger).get(url).status_code == 404


@pytest.mark.parametrize(("name", "with_point", "for_readers"), PAGES, ids=page_names)
def test_a_reader_sees_what_readers_may(
    name: str, with_point: bool, for_readers: bool, document: Document, point: CrawlPoint, reader: Any, signed_in: Any
) -> None:
    answer = signed_in(reader).get(address(name, document, point, with_point))
    assert answer.status_code == (200 if for_readers else 403)


@pytest.mark.parametrize(("name", "with_point"), COMMANDS, ids=command_names)
def test_a_command_is_for_editors_only(
    name: str, with_point: bool, document: Document, point: CrawlPoint, reader: Any, stranger: Any, signed_in: Any
) -> None:
    url = address(name, document, point, with_point)
    data = {"point": point.pk, "do": "deactivate", "pattern": "https://example.gov/x"}
    before = traces()
    assert Client().post(url, data).status_code in {302, 403}
    assert signed_in(reader).post(url, data).status_code == 403
    assert signed_in(stranger).post(url, data).status_code == 404
    assert traces() == before


@pytest.mark.parametrize(
    "name", ["crawl-points-choose", "crawl-points-delete", "crawl-points-restore", "crawl-points-bulk",
             "crawl-points-undo", "exclude-urls-apply", "exclude-urls-delete", "exclude-urls-restore"]
)  # fmt: skip
def test_a_command_is_never_a_get(name: str, document: Document, editor: Any, signed_in: Any) -> None:
    assert signed_in(editor).get(reverse(name, args=[document.pk])).status_code == 405


def test_a_command_without_the_secret_of_the_form_is_refused(
    document: Document, point: CrawlPoint, editor: Any
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(editor)
    answer = client.post(reverse("crawl-points-delete", args=[document.pk]), {"point": point.pk})
    assert answer.status_code == 403
    assert CrawlPoint.objects.filter(pk=point.pk).exists()


@pytest.mark.parametrize("name", ["documents", "documents-choose", "documents-export"])
def test_the_list_of_documents_needs_a_sign_in(name: str, editor: Any, signed_in: Any) -> None:
    assert Client().get(reverse(name)).status_code == 302
    assert signed_in(editor).get(reverse(name)).status_code in {200, 302}


def test_a_crawl_point_of_another_document_cannot_be_reached_through_ones_own(
    document: Document, other_document: Document, editor: Any, signed_in: Any
) -> None:
    theirs, _ = services.add_crawl_point(other_document, {"url": "https://a.org/", "root": "https://a.org/"})
    client = signed_in(editor)
    assert client.get(reverse("crawl-point-edit", args=[document.pk, theirs.pk])).status_code == 404
    client.post(reverse("crawl-points-delete", args=[document.pk]), {"point": theirs.pk})
    client.post(reverse("crawl-points-bulk", args=[document.pk]), {"point": theirs.pk, "do": "deactivate"})
    theirs.refresh_from_db()
    assert (theirs.deleted, theirs.active) == (0, 1)


def test_a_preview_is_for_those_who_may_test(
    document: Document, point: CrawlPoint, reader: Any, stranger: Any, editor: Any, signed_in: Any
) -> None:
    start = reverse("preview-start", args=[document.pk])
    assert signed_in(editor).get(start).status_code == 405
    assert Client().post(start).status_code in {302, 403}
    assert signed_in(stranger).post(start).status_code == 404
    page = signed_in(reader).post(start).url
    for name, expected in (("preview", 200), ("preview-live", 200)):
        url = page if name == "preview" else f"{page}live"
        before = traces(), Preview.objects.values_list("progress", "stop").get()
        assert signed_in(reader).get(url).status_code == expected
        assert Client().get(url).status_code == 302
        assert signed_in(stranger).get(url).status_code == 404
        assert (traces(), Preview.objects.values_list("progress", "stop").get()) == before
    for command in ("stop", "again"):
        assert signed_in(editor).get(f"{page}{command}/").status_code == 405
        assert Client().post(f"{page}{command}/").status_code in {302, 403}
        assert signed_in(stranger).post(f"{page}{command}/").status_code == 404


def test_a_preview_of_another_document_cannot_be_reached_through_ones_own(
    document: Document, other_document: Document, point: CrawlPoint, editor: Any, signed_in: Any
) -> None:
    theirs = Preview.objects.create(doc_id=other_document.pk, asked_by="x", asked_at=timezone.now())
    assert signed_in(editor).get(reverse("preview", args=[document.pk, theirs.pk])).status_code == 404
