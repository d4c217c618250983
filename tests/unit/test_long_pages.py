"""Pages made to keep a regular expression busy cost no more than their length."""

import time

from django.utils import timezone

from clearinghouse.published import copies
from crawler.preview import visit

MANY = 40_000


def seconds(look: object, body: bytes) -> float:
    start = time.perf_counter()
    assert look.search(body) is None  # type: ignore[attr-defined]
    return time.perf_counter() - start


def test_tags_that_never_end_are_looked_through_once() -> None:
    assert seconds(copies._BODY, b"<body " * MANY) < 1
    assert seconds(visit._PASSWORD, b"<input " * MANY) < 1


def test_the_banner_stands_behind_the_first_body_tag() -> None:
    page = copies._with_banner(b"<html><BODY class='a'>x</body>", "https://e.gov/", timezone.now())
    assert page.startswith(b"<html><BODY class='a'><base href=") and page.endswith(b"</div>x</body>")
