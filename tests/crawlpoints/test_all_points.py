"""All crawl points of all documents: who sees which, filters and order, commands, CSV, queries."""

from typing import Any

import pytest
from django.urls import reverse
from lxml import html

from clearinghouse.library import services as library
from clearinghouse.library.models import Document
from crawlpoints import services
from crawlpoints.all_points import views as across
from crawlpoints.models import CrawlPoint
from tests.crawlpoints.test_panel import count_queries, text_of

pytestmark = pytest.mark.django_db(databases="__all__")
LIST = "/crawl-points/"


def add(document: Document, path: str, **values: Any) -> CrawlPoint:
    url = f"https://example.gov/{path}/"
    return services.add_crawl_point(document, {"url": url, "root": url, "depth": 2, "max_pages": 50} | values)[0]


def pinned(answer: Any) -> list[str]:
    """The crawl points about which a question is asked."""
    (ids,) = html.fromstring(answer.content).xpath("//input[@name='page']/@value")
    return ids.split(",")[:-1]


def urls(answer: Any) -> list[str]:
    return [row.record.url.removeprefix("https://example.gov/").strip("/") for row in answer.context["table"].rows]


@pytest.fixture
def colleagues_document(project: Any) -> Document:
    """Of the editor's project, but not assigned to the editor."""
    return library.add_document("Zinc", project=project.name)


@pytest.fixture
def points(document: Document, other_document: Document, colleagues_document: Document) -> dict[str, CrawlPoint]:
    return {
        "a": add(document, "a", depth=5),
        "b": add(document, "b", active=False, max_pages=""),
        "c": add(colleagues_document, "c", auth_type=1, login="me", password="pw-1"),
        "s": add(other_document, "s"),
    }


def test_everybody_sees_the_crawl_points_of_their_documents_only(
    editor: Any, stranger: Any, administrator: Any, signed_in: Any, points: dict[str, CrawlPoint]
) -> None:
    assert urls(signed_in(editor).get(LIST)) == ["a", "b", "c"]
    assert urls(signed_in(stranger).get(LIST)) == ["s"]
    assert urls(signed_in(administrator).get(LIST)) == ["a", "b", "c", "s"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("state=active", ["a", "c"]),
        ("state=inactive", ["b"]),
        ("state=failing", ["c"]),
        ("auth=1", ["c"]),
        ("auth=0", ["a", "b"]),
        ("who=me", ["a", "b"]),
        ("who=nobody", ["c"]),
        ("q=zinc", ["c"]),
        ("q=example.gov/b", ["b"]),
        ("project=Guidelines", []),
        ("sort=-url", ["c", "b", "a"]),
        ("sort=depth", ["b", "c", "a"]),
        ("sort=-max_pages", ["b", "a", "c"]),
        ("sort=-document", ["c", "a", "b"]),
        ("among=view%3Dall%26q%3Dzinc", ["c"]),
        ("among=view%3Dnever", ["a", "b"]),
        ("sort=nonsense&state=x&auth=9&who=x&page=99&rows=7", ["a", "b", "c"]),
    ],
)
def test_filters_and_order_stand_in_the_address(
    editor: Any, signed_in: Any, points: dict[str, CrawlPoint], colleagues_document: Document, crawled: Any,
    query: str, expected: list[str],
) -> None:  # fmt: skip
    crawled(colleagues_document, failed=2, tallies={"point": {str(points["c"].pk): {"errors": 2}}})
    assert urls(signed_in(editor).get(f"{LIST}?{query}")) == expected


def test_a_crawl_point_one_may_only_read_cannot_be_ticked_or_changed(
    editor: Any, signed_in: Any, points: dict[str, CrawlPoint]
) -> None:
    browser = signed_in(editor)
    page = browser.get(LIST).content.decode()
    ticks = [name for name, point in points.items() if f'name="point" value="{point.pk}"' in page]
    assert ticks == ["a", "b"]
    everything = [point.pk for point in points.values()]
    browser.post(reverse("points-bulk"), {"do": "deactivate", "point": everything})
    assert {name for name, point in points.items() if not CrawlPoint.objects.get(pk=point.pk).active} == {"a", "b"}


def test_a_limit_is_set_for_all_ticked_rows_and_taken_back_with_one_press(
    administrator: Any, signed_in: Any, points: dict[str, CrawlPoint]
) -> None:
    browser, chosen = signed_in(administrator), [points[name].pk for name in "acs"]
    asked = browser.post(reverse("points-bulk"), {"do": "depth", "point": chosen, "query": "state=active"})
    assert "Set depth limit" in text_of(asked) and len(pinned(asked)) == 3
    wrong = browser.post(reverse("points-bulk"), {"do": "depth", "point": chosen, "answer": "deep"})
    assert wrong.status_code == 422 and "Depth limit must be a whole number, like 3" in text_of(wrong)
    sent = {"do": "depth", "point": chosen, "answer": "7", "query": "state=active"}
    done = browser.post(reverse("points-bulk"), sent)
    assert done.url == f"{LIST}?state=active"
    assert "Set depth limit of 3 crawl points to 7." in text_of(browser.get(done.url))
    assert set(CrawlPoint.objects.values_list("url", "depth")) >= {(points["s"].url, 7), (points["b"].url, 2)}
    browser.post(reverse("points-undo"))
    assert [CrawlPoint.objects.get(pk=pk).depth for pk in chosen] == [5, 2, 2]


def test_nothing_ticked_explains_itself(editor: Any, signed_in: Any, points: dict[str, CrawlPoint]) -> None:
    answer = signed_in(editor).post(reverse("points-bulk"), {"do": "activate"}, follow=True)
    assert "Select a crawl point first." in text_of(answer)


def test_the_export_has_the_rows_of_the_filter_and_no_password(
    editor: Any, signed_in: Any, points: dict[str, CrawlPoint]
) -> None:
    answer = signed_in(editor).get(reverse("points-export") + "?sort=-url&state=active")
    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert [line.split(",")[3] for line in lines[1:]] == [points["c"].url, points["a"].url]
    assert "pw-1" not in "".join(lines) and "Basic" in lines[1]


def test_the_count_of_the_navigator_opens_as_many_rows(
    editor: Any, signed_in: Any, points: dict[str, CrawlPoint]
) -> None:
    browser = signed_in(editor)
    for query in ("", "?view=all", "?view=all&q=zinc", "?who=me"):
        page = browser.get("/documents/" + query)
        count = page.context["sums"]["active"]
        door = next(part for part in page.content.decode().split('"') if part.startswith(f"{LIST}?state=active"))
        assert len(urls(browser.get(door.replace("&amp;", "&")))) == count > 0


def test_twice_the_rows_same_queries(administrator: Any, signed_in: Any, project: Any, crawled: Any) -> None:
    browser = signed_in(administrator)

    def fill(start: int, count: int) -> None:
        for number in range(start, start + count):
            document = library.add_document(f"D{number}", project=project.name)
            point = add(document, f"d{number}")
            crawled(document, pages=3, failed=1, tallies={"point": {str(point.pk): {"pages": 3, "errors": 1}}})

    fill(0, 3)
    few = count_queries(lambda: browser.get(LIST))
    fill(3, 20)
    assert count_queries(lambda: browser.get(LIST)) == few
    assert few <= 20


def test_all_that_match_are_changed_on_whatever_page_they_stand(
    editor: Any, signed_in: Any, points: dict[str, CrawlPoint], document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(across, "SIZES", (2, 50))
    points["d"] = add(document, "d")
    browser = signed_in(editor)
    assert "Select all" not in text_of(browser.get(f"{LIST}?rows=50")).replace("Select all 3 on this page", "")
    assert "Select all 3 that match" in text_of(browser.get(LIST)), "the one of a colleague cannot be changed"
    chosen = {"all": "1", "query": "state=active&rows=2", "do": "depth"}
    asked = browser.post(f"{LIST}bulk/", chosen)
    assert pinned(asked) == [str(points["a"].pk), str(points["d"].pk)]
    page = text_of(browser.post(f"{LIST}bulk/", chosen | {"answer": "9"}, follow=True))
    assert "Set depth limit of 2 crawl points to 9." in page
    assert {name for name, point in points.items() if CrawlPoint.objects.get(pk=point.pk).depth == 9} == {"a", "d"}
    monkeypatch.setattr(across, "MOST", 2)
    page = text_of(browser.get(LIST))
    assert "3 match; at most 2 can be changed at once" in page and "that match" not in page
