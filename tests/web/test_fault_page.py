"""The page that comes when something broke on our side."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client, RequestFactory
from lxml import html

from clearinghouse.accounts.views import fault
from crawlpoints.documents import navigator_views

pytestmark = pytest.mark.django_db(databases="__all__")


@pytest.fixture
def broken(signed_in: Callable[[Any], Client], editor: Any, monkeypatch: pytest.MonkeyPatch) -> Client:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("a bug")

    browser = signed_in(editor)
    browser.raise_request_exception = False
    monkeypatch.setattr(navigator_views, "render", fail)
    return browser


def test_it_names_the_number_of_the_request_and_offers_to_try_again(broken: Client) -> None:
    broken.cookies["theme"] = "dark"
    answer = broken.get("/documents/?q=<b>")
    page = html.fromstring(answer.content)
    assert answer.status_code == 500 and page.get("data-theme") == "dark"
    assert page.xpath("//strong/text()") == [answer["X-Request-Id"]]
    assert page.xpath("//main//a/@href") == ["/documents/?q=%3Cb%3E", "/"]
    assert "Nothing you did is lost" in page.text_content()


def test_what_was_sent_is_not_sent_again_by_a_link() -> None:
    page = html.fromstring(fault(RequestFactory().post("/documents/")).content)
    assert page.xpath("//main//a/@href") == ["/"]
    assert "Check before you send it again" in page.text_content()
