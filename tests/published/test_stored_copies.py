"""A stored copy names its charset where that is sure, and leaves it to the page where it is not."""

from datetime import UTC, datetime

import pytest

from clearinghouse.published import stored_copies, types


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("<p>é".encode(), "; charset=utf-8"),
        ("<p>é".encode("latin-1"), ""),
        ("<meta charset=windows-1252><p>é".encode("latin-1"), "; charset=windows-1252"),
        ("<meta charset=iso-2022-jp><p>日本".encode("iso2022-jp"), "; charset=iso-2022-jp"),
        ("<p>日本".encode("utf-16-le"), ""),
    ],
)
def test_the_charset_of_a_copy_is_named_where_it_is_sure(body: bytes, charset: str) -> None:
    shown = stored_copies.answer(1, types.HTML, body, "http://a.org/", datetime(2026, 1, 1, tzinfo=UTC))
    assert shown["Content-Type"] == "text/html" + charset


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_a_copy_in_utf_16_is_shown_with_its_banner(codec: str) -> None:
    body = "\ufeff<body><p>日本</p>".encode(codec)
    shown = stored_copies.answer(1, types.HTML, body, "http://a.org/", datetime(2026, 1, 1, tzinfo=UTC))
    assert shown["Content-Type"] == "text/html; charset=utf-8"
    assert "Copy stored on" in shown.content.decode()
    assert "<p>日本</p>" in shown.content.decode()
