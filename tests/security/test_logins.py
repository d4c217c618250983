"""Who only reads sees no user ID of a site (ui 3.2): on no page, in no export, in no answer to a program."""

from typing import Any

import pytest

from clearinghouse.library.models import Document
from crawlpoints import services

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
URL = "https://quality.example.gov/private/"
LOGIN = "hidden-login"


@pytest.fixture
def paths(document: Document) -> list[str]:
    values = {"url": URL, "root": URL, "auth_type": 1, "login": LOGIN, "password": "swordfish"}
    point, _ = services.add_crawl_point(document, values)
    services.update_crawl_point(point, {"login": f"{LOGIN}-2"})
    panel = f"/documents/{document.pk}/"
    api = f"/api/v1{panel}"
    return [
        f"{panel}crawl-points/", f"{panel}crawl-points/export.csv", f"{panel}history/", "/crawl-points/",
        "/crawl-points/export.csv", "/reports/audit/?days=all", "/reports/audit/export.csv?days=all",
        f"{api}crawl-points/", f"{api}crawl-points/{point.pk}/", f"{api}history/",
    ]  # fmt: skip


def shown(browser: Any, path: str) -> bool:
    response = browser.get(path)
    assert response.status_code == 200, path
    body = b"".join(response.streaming_content) if response.streaming else response.content
    return LOGIN in body.decode()


def test_a_reader_never_sees_the_user_id(paths: list[str], signed_in: Any, reader: Any) -> None:
    assert [path for path in paths if shown(signed_in(reader), path)] == []


@pytest.mark.parametrize("who", ["editor", "manager"])
def test_who_edits_sees_it_where_it_stands(paths: list[str], signed_in: Any, request: Any, who: str) -> None:
    seen = [path for path in paths if shown(signed_in(request.getfixturevalue(who)), path)]
    assert len(seen) >= 7
