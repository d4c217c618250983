"""Several crawl points at once: limits, copies, moves, each taken back with one press."""

from typing import Any

import pytest
from django.urls import reverse
from lxml import html

from clearinghouse.database.records import acting_as
from clearinghouse.library import services as library
from clearinghouse.library.models import Document
from crawlpoints import queries, services
from crawlpoints.models import CrawlPoint

from .test_panel import text_of

pytestmark = pytest.mark.django_db(databases="__all__")


@pytest.fixture
def panel(document: Document) -> str:
    return reverse("crawl-points", args=[document.pk])


@pytest.fixture
def browser(editor: Any, signed_in: Any) -> Any:
    return signed_in(editor)


@pytest.fixture
def second(document: Document, project: Any, editor: Any) -> Document:
    made = library.add_document("Second", project=project.name)
    library.assign(made, editor)
    return made


def values(point: CrawlPoint) -> dict[str, Any]:
    return services.facts(CrawlPoint.everything.get(pk=point.pk)) | {
        "deleted": CrawlPoint.everything.get(pk=point.pk).deleted
    }


def test_a_limit_is_asked_for_on_a_page_and_set_for_all_ticked_rows(
    browser: Any, panel: str, point: CrawlPoint, protected: CrawlPoint
) -> None:
    """Each ticked by itself, or by the one box in the head, which sends them as one."""
    chosen = {"point": [point.pk, protected.pk], "do": "depth"}
    page = text_of(browser.post(f"{panel}bulk/", chosen))
    (head,) = html.fromstring(browser.get(panel).content).xpath("//thead//input[@name='page']")
    assert head.get("aria-label") == "Select all 2 on this page"
    assert "<h1>Set depth limit</h1>" in page and f'name="page" value="{head.get("value")},"' in page
    chosen = {"page": head.get("value"), "do": "depth"}
    page = text_of(browser.post(f"{panel}bulk/", chosen | {"answer": "7"}, follow=True))
    assert "Set depth limit of 2 crawl points to 7." in page and "Undo" in page
    assert {one.depth for one in CrawlPoint.objects.all()} == {7}


def test_undo_brings_back_the_limits_each_had(
    browser: Any, panel: str, point: CrawlPoint, protected: CrawlPoint
) -> None:
    before = values(point), values(protected)
    browser.post(f"{panel}bulk/", {"point": [point.pk, protected.pk], "do": "max_pages", "answer": ""})
    assert values(point)["max_pages"] == 0
    page = text_of(browser.post(f"{panel}undo/", follow=True))
    assert "Undone" in page and "Undo</button>" not in page
    assert (values(point), values(protected)) == before
    assert "nothing to undo any more" in text_of(browser.post(f"{panel}undo/", follow=True))


def test_a_limit_that_may_not_be_saved_is_refused_for_all(
    browser: Any, panel: str, point: CrawlPoint, protected: CrawlPoint
) -> None:
    answer = browser.post(f"{panel}bulk/", {"point": [point.pk, protected.pk], "do": "depth", "answer": "deep"})
    assert answer.status_code == 422
    assert "<title>Error: Set depth limit" in text_of(answer)
    assert text_of(answer).count("Depth limit must be a whole number, like 3") == 2
    assert values(point)["depth"] == 3


def test_a_copy_keeps_everything_but_the_password(
    browser: Any, panel: str, protected: CrawlPoint, second: Document
) -> None:
    """Threat T8: who may use a password is decided where it was entered."""
    given = {"point": protected.pk, "do": "copy", "answer": f"{second.pk} Second"}
    page = text_of(browser.post(f"{panel}bulk/", given, follow=True))
    assert "Passwords are not copied. Enter them again in Second." in page
    copied = queries.points_of(second).get()
    password = ("has_saved_pw",)
    kept = {name: value for name, value in services.facts(copied).items() if name not in password}
    assert kept == {name: value for name, value in services.facts(protected).items() if name not in password}
    assert queries.password_of(copied) == "" and queries.password_of(protected) == "canary-7Q"


def test_a_moved_crawl_point_takes_its_password_along(
    browser: Any, panel: str, protected: CrawlPoint, second: Document
) -> None:
    browser.post(f"{panel}bulk/", {"point": protected.pk, "do": "move", "answer": second.pk})
    assert queries.password_of(queries.points_of(second).get()) == "canary-7Q"


def test_moving_and_its_undo(browser: Any, panel: str, point: CrawlPoint, document: Document, second: Document) -> None:
    before = values(point)
    page = text_of(browser.post(f"{panel}bulk/", {"point": point.pk, "do": "move", "answer": second.pk}, follow=True))
    assert "Moved 1 crawl point to Second." in page
    assert not queries.points_of(document) and queries.points_of(second).get().url == point.url
    browser.post(f"{panel}undo/")
    assert queries.points_of(document).get() == point and not queries.points_of(second)
    assert values(point) == before


def test_what_the_target_has_already_is_left_alone(
    browser: Any, panel: str, point: CrawlPoint, document: Document, second: Document
) -> None:
    services.add_crawl_point(second, {"url": point.url, "root": point.root})
    page = text_of(browser.post(f"{panel}bulk/", {"point": point.pk, "do": "move", "answer": second.pk}, follow=True))
    assert f"Second already has {point.url}. It was not changed." in page
    assert queries.points_of(document).get() == point


def test_nothing_is_copied_where_one_may_not_write(
    browser: Any, panel: str, point: CrawlPoint, other_document: Document, document: Document
) -> None:
    for answer in (other_document.pk, document.pk, "x", ""):
        refused = browser.post(f"{panel}bulk/", {"point": point.pk, "do": "copy", "answer": answer})
        assert refused.status_code == 422
    assert not queries.points_of(other_document)


def test_an_adopted_crawl_point_no_check_would_pass_can_be_switched_off(
    browser: Any, panel: str, point: CrawlPoint
) -> None:
    CrawlPoint.objects.filter(pk=point.pk).update(url="no address", root="")
    browser.post(f"{panel}bulk/", {"point": point.pk, "do": "deactivate"})
    assert values(point)["active"] == 0
    browser.post(f"{panel}undo/")
    assert values(point)["active"] == 1


def test_the_history_says_who_changed_what_from_what_to_what(
    browser: Any, panel: str, point: CrawlPoint, document: Document
) -> None:
    browser.post(f"{panel}bulk/", {"point": point.pk, "do": "depth", "answer": "9"})
    url = reverse("document-history", args=[document.pk])
    page = text_of(browser.get(url))
    assert "editor" in page and f"Changed crawl point {point.url}" in page
    assert 'Depth limit: <span class="url muted">3</span> → <span class="url">9</span>' in page
    assert "Changed crawl point" not in text_of(browser.get(f"{url}?kind=excludeurl"))


def test_undo_leaves_alone_what_a_colleague_changed_meanwhile(
    browser: Any, panel: str, point: CrawlPoint, protected: CrawlPoint
) -> None:
    before = values(protected)
    browser.post(f"{panel}bulk/", {"point": [point.pk, protected.pk], "do": "depth", "answer": "7"})
    with acting_as("colleague"):
        services.update_crawl_point(CrawlPoint.objects.get(pk=point.pk), {"depth": 5})
    page = text_of(browser.post(f"{panel}undo/", follow=True))
    assert "Undone: 1 change was taken back." in page
    assert f"Not undone: colleague changed {point.url} meanwhile." in page
    assert values(point)["depth"] == 5 and values(protected) == before


def test_a_move_of_which_a_part_was_changed_is_not_undone_at_all(
    browser: Any, panel: str, point: CrawlPoint, second: Document, document: Document
) -> None:
    browser.post(f"{panel}bulk/", {"point": point.pk, "do": "move", "answer": second.pk})
    services.update_crawl_point(queries.points_of(second).get(), {"depth": 5})
    page = text_of(browser.post(f"{panel}undo/", follow=True))
    assert "Somebody else changed one of these crawl points just now. Nothing was changed." in page
    assert queries.points_of(second).get().depth == 5 and not queries.points_of(document)


def test_the_panel_keeps_its_order_through_every_command(
    browser: Any, panel: str, document: Document, entries: dict[str, str]
) -> None:
    """And the next row is the one below, as the person sees it."""
    made = {}
    for name, depth in (("a", 1), ("b", 3), ("c", 2)):
        url = f"https://example.gov/{name}/"
        made[name] = services.add_crawl_point(document, {"url": url, "root": url, "depth": depth})[0].pk
    browser.get(f"{panel}?sort=depth")
    for command in ("choose", "delete", "bulk"):
        assert browser.post(f"{panel}{command}/", {"do": "activate"}).url == f"{panel}?sort=depth"
    off = {"point": made["a"], "do": "deactivate"}
    assert browser.post(f"{panel}bulk/", off).url == f"{panel}?sort=depth&at={made['a']}"
    assert browser.post(f"{panel}undo/").url == f"{panel}?sort=depth"
    assert browser.post(f"{panel}new/", entries).url.startswith(f"{panel}?sort=depth&saved=")
    assert browser.post(f"{panel}delete/", {"point": made["a"]}).url == f"{panel}?sort=depth&at={made['c']}"
    assert browser.post(f"{panel}restore/", {"point": made["a"]}).url == f"{panel}?sort=depth&at={made['a']}"
    browser.get(panel)
    assert browser.post(f"{panel}choose/").url == panel
