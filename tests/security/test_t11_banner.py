"""Threat T11, of who reads a stored copy: that it is one stands above it, whatever the page says of itself."""

from datetime import UTC, datetime

import pytest
from selectolax.lexbor import LexborHTMLParser

from clearinghouse.published import stored_copies
from clearinghouse.published.types import HTML

PAGES = (
    b"<!doctype html><html><head><title>t</title></head><body><p>Hi",
    b"<!-- <body> --><!DOCTYPE html><body>Hi",
    b"<!doctype html><!-- <body> --><p>Hi",
    b"<!doctype html><script>'<body>'</script><p>Hi",
    b"<!doctype html><title><body></title><p>Hi",
    b"<!doctype html><p title='<body>'>Hi",
    b"<!doctype html><template><body></template><p>Hi",
    b"<!doctype html><textarea><body></textarea><p>Hi",
    b"<!--><!doctype html><body>Hi",
    b"<!-- a -- b --><!doctype html><body>Hi",
    b"<!doctype html><style>div { display: none !important }</style><body>Hi",
    b"\xef\xbb\xbf<!doctype html><body>Hi",
    "<!doctype html><body>Hi".encode("utf-16"),
    b"<plaintext><body>",
    b"<!doctype <body>",
    b"",
)


@pytest.mark.parametrize("body", PAGES)
def test_t11_the_banner_is_the_first_thing_of_every_copy(body: bytes) -> None:
    back = [("Back", "https://our.example/search/?q=a&sort=newest")]
    response = stored_copies.answer(1, HTML, body, "https://a.example/", datetime(2026, 11, 12, tzinfo=UTC), back)
    page = LexborHTMLParser(response.content.decode())
    first = page.body.css_first("div") if page.body else None
    assert first is not None and first.text().startswith("Copy stored on 12 Nov 2026 from https://a.example/.")
    assert not (page.body.text() or "").replace(first.text(), "", 1)[: len(first.text())].startswith("Copy stored")
    above = [node.tag for node in (first.parent.iter() if first.parent else ()) if node.tag not in ("base", "meta")]
    assert first.parent.tag == "body" and above[0] == "div"
    assert "display:block!important" in first.attributes["style"]
    (link,) = first.css("a")
    assert link.attributes["href"] == back[0][1] and "all:revert!important" in link.attributes["style"]


def test_t11_letters_are_read_as_the_page_says_although_the_banner_stands_before_that() -> None:
    page = "<!doctype html><meta charset='windows-1251'><p>Привет".encode("windows-1251")
    response = stored_copies.answer(
        1, HTML, page, "https://a.example/" + "a" * 1500, datetime(2026, 11, 12, tzinfo=UTC)
    )
    assert response["Content-Type"] == "text/html; charset=windows-1251"
    odd = b"<meta charset='utf-7'>\xff"
    assert stored_copies.answer(1, HTML, odd, "https://a.example/", datetime.now(UTC))["Content-Type"] == "text/html"
