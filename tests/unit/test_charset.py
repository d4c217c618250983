"""Charsets: byte order mark, header, meta tag, guess."""

import time

import pytest

from crawler.extract.charset import as_utf8, detect, query_bytes
from crawler.extract.labels import CODECS, encoding_of
from tests.unit import vectors


@pytest.mark.parametrize(
    ("body", "declared", "text", "name"),
    [
        (b"\xef\xbb\xbfh\xc3\xa9", "iso-8859-1", "hé", "utf-8"),
        (b"\xff\xfeh\0\xe9\0", "utf-8", "hé", "utf-16le"),
        (b"h\xe9", "iso-8859-1", "hé", "windows-1252"),
        (b'<meta charset="koi8-r">\xc1', "", '<meta charset="koi8-r">а', "koi8-r"),
        (b'<meta charset="koi8-r">\xe9', "latin1", '<meta charset="koi8-r">é', "windows-1252"),
        (b"h\xc3\xa9", "", "hé", "utf-8"),
        (b"h\xc3\xa9", "no-such-charset", "hé", "utf-8"),
        (b"h\xe9 \xff\xff", "utf-8", "h\ufffd \ufffd\ufffd", "utf-8"),
        (b"\x80\x81", "windows-1252", "€\x81", "windows-1252"),
        (b"", "", "", "windows-1252"),
        ("h\u00e9llo w\u00f6rld".encode("utf-16-le"), "", "héllo wörld", "utf-16le"),
        (b"+ADw-script+AD4-", "utf-7", "+ADw-script+AD4-", "windows-1252"),
        (b"anything", "hz-gb-2312", "anything", "replacement"),
    ],
)
def test_the_charset_is_decided_in_the_order_of_the_standard(body: bytes, declared: str, text: str, name: str) -> None:
    data, found = as_utf8(body, declared)
    assert (data.decode(), found) == (text, name)


def test_every_label_leads_to_a_codec_python_has() -> None:
    assert {codec for codec in CODECS.values() if "x".encode(codec) is None} == set()
    assert encoding_of(" Latin1 ") == "windows-1252"
    assert encoding_of("nonsense") == ""


def test_a_query_is_escaped_in_the_charset_of_its_page() -> None:
    assert query_bytes("/é?é=ü#é", "windows-1252") == "/é?%E9=%FC#é"
    assert query_bytes("/?q=€", "koi8-r") == "/?q=%26%238364%3B"
    assert query_bytes("/plain?x", "koi8-r") == "/plain?x"


def test_charsets_of_html5lib() -> None:
    right = judged = 0
    for file in sorted((vectors.folder("html5lib-encoding") / "encoding").glob("*.dat")):
        for case in file.read_bytes().split(b"#data\n")[1:]:
            data, _, answer = case.partition(b"\n#encoding\n")
            expected = answer.split(b"\n")[0].decode().strip().lower()
            judged += 1
            right += detect(data) == encoding_of(expected)
    assert judged == 82
    assert right >= 79


def test_a_page_that_begins_with_very_many_empty_lines_is_read_at_once() -> None:
    page = b"\n" * 30_000 + b"<!doctype html>" + b" " * 30_000 + b"<html><head><title>x</title><meta charset=koi8-r>"
    begun = time.process_time()
    detect(page)
    assert time.process_time() - begun < 0.5
    assert detect(b'\n\n<!DOCTYPE html>\n<html lang="de" >\n<head>\n<meta charset="koi8-r" />') == "koi8-r"
