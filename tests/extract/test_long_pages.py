"""Pages made to keep a regular expression busy cost no more than their length."""

import time

from django.utils import timezone

from clearinghouse.published import stored_copies
from crawler.preview import fetch_once

MANY = 40_000


def seconds(look: object, body: bytes) -> float:
    start = time.perf_counter()
    assert look.search(body) is None  # type: ignore[attr-defined]
    return time.perf_counter() - start


def test_tags_that_never_end_are_looked_through_once() -> None:
    start = time.perf_counter()
    for beginning in (b"<!-- ", b"<!doctype ", b"<? ", b"<!---", b" "):
        assert stored_copies._DOCTYPE.match(beginning * MANY) is None
    assert time.perf_counter() - start < 1
    assert seconds(fetch_once._PASSWORD, b"<input " * MANY) < 1


def test_the_banner_stands_behind_the_doctype_and_before_all_else() -> None:
    page = stored_copies._with_banner(
        b"<!DOCTYPE html><html><BODY class='a'>x</body>", "https://e.gov/", timezone.now()
    )
    assert page.startswith(b"<!DOCTYPE html><base href=") and page.endswith(b"</div><html><BODY class='a'>x</body>")
