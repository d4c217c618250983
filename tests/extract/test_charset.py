"""Charsets: byte order mark, header, meta tag, guess."""

import random
import time

import endec
import pytest

from crawler.extract.charsets.charset import as_utf8, detect, encode, query_bytes
from crawler.extract.charsets.charset_guess import guess
from crawler.extract.charsets.charset_labels import _LABELS, encoding_found, encoding_of
from tests import vectors
from tests.proves import proves


@proves("E3")
@pytest.mark.parametrize(
    ("body", "declared", "text", "name"),
    [
        (b"\xef\xbb\xbfh\xc3\xa9", "iso-8859-1", "hé", "utf-8"),
        (b"\xff\xfeh\0\xe9\0", "utf-8", "hé", "utf-16le"),
        (b"h\xe9", "iso-8859-1", "hé", "windows-1252"),
        (b'<meta charset="koi8-r">\xc1', "", '<meta charset="koi8-r">а', "koi8-r"),
        (
            b'<meta charset="none"><meta charset=koi8-r>\xc1',
            "",
            '<meta charset="none"><meta charset=koi8-r>а',
            "koi8-r",
        ),
        (b'<meta charset="koi8-r">\xe9', "latin1", '<meta charset="koi8-r">é', "windows-1252"),
        (b"h\xc3\xa9", "", "hé", "utf-8"),
        (b"h\xc3\xa9", "no-such-charset", "hé", "utf-8"),
        (b"h\xe9 \xff\xff", "utf-8", "h\ufffd \ufffd\ufffd", "utf-8"),
        (b"\x80\x81", "windows-1252", "€\x81", "windows-1252"),
        (b"", "", "", "windows-1252"),
        ("h\u00e9llo w\u00f6rld".encode("utf-16-le"), "", "héllo wörld", "utf-16le"),
        (b"+ADw-script+AD4-", "utf-7", "+ADw-script+AD4-", "windows-1252"),
        (b"anything", "hz-gb-2312", "\ufffd", "replacement"),
        (b"", "iso-2022-kr", "", "replacement"),
        (b"\x1b$BF|K\\8l\x1b(B text", "iso-2022-jp", "日本語 text", "iso-2022-jp"),
        (b"-N\x1c q\x00\x1d ", "utf-16le", "中“q”", "utf-16le"),
        ("<p>He said “no” to 中".encode("utf-16-le"), "", "<p>He said “no” to 中", "utf-16le"),
        ("<p>He said “no” to 中".encode("utf-16-be"), "", "<p>He said “no” to 中", "utf-16be"),
        (b"<meta charset=iso-2022-jp>\x1b$BF|", "", "<meta charset=iso-2022-jp>日", "iso-2022-jp"),
        (b"\xad\xa1\x8f\xa2\xaf", "euc-jp", "①˘", "euc-jp"),
        (b"\x80\xa4\xa2\x81\x30\x81\x30", "gbk", "€あ\x80", "gbk"),
        (b"\x88\x62\x88\xa5\xf9\xfe", "big5", "\xca\u0304\xea\u030c\uffed", "big5"),
        (b"\x81\x41\xc7\xd1", "euc-kr", "갂한", "euc-kr"),
        (b"\x87\x40\xfc\x4b\xf0\x40\x80\xa0", "shift_jis", "①黑\ue000\x80\ufffd", "shift_jis"),
        (b"\xa1\xdb", "windows-874", "ก\ufffd", "windows-874"),
        (b"a\x80\xff", "x-user-defined", "a\uf780\uf7ff", "x-user-defined"),
    ],
)
def test_the_charset_is_decided_in_the_order_of_the_standard(body: bytes, declared: str, text: str, name: str) -> None:
    data, found = as_utf8(body, declared)
    assert (data.decode(), found) == (text, name)


@proves("E3")
def test_every_label_leads_to_an_encoding_that_is_decoded() -> None:
    assert {name for name in _LABELS.values() if endec.decode(b"", name) != ""} == set()
    assert len(set(_LABELS.values())) == 40
    assert encoding_of(" Latin1 ") == "windows-1252"
    assert encoding_of("nonsense") == encoding_found("utf-7") == encoding_of("\u212aoi8-r") == ""


def test_a_query_is_escaped_in_the_charset_of_its_page() -> None:
    assert query_bytes("/é?é=ü#é", "windows-1252") == "/é?%E9=%FC#é"
    assert query_bytes("/?q=€", "koi8-r") == "/?q=%26%238364%3B"
    assert query_bytes("/plain?x", "koi8-r") == "/plain?x"
    assert query_bytes("/?q=\xa0€&ソ", "shift_jis") == "/?q=%26%23160%3B%26%238364%3B&%83\\"
    assert query_bytes("/?q=aソéあ", "iso-2022-jp") == "/?q=a%1B$B%=%1B(B%26%23233%3B%1B$B$%22%1B(B"
    assert query_bytes("/?q=Γ€", "iso-2022-jp") == "/?q=%1B$B&%23%1B(B%26%238364%3B"  # two bytes of it are "&#"
    assert query_bytes("/?q=\x0ea", "iso-2022-jp") == "/?q=%26%2365533%3Ba"
    assert query_bytes("/?q=é", "replacement") == query_bytes("/?q=é", "utf-16le") == "/?q=%C3%A9"


def test_a_query_of_many_escape_signs_takes_little_time() -> None:
    """They begin two bytes of JIS in one charset only, where its encoder has none of its own."""
    begun = time.process_time()
    assert query_bytes("/?é" + "\x1b$" * 50_000, "windows-1252") == "/?%E9" + "%1B$" * 50_000
    assert query_bytes("/?é" + "\x1b$" * 50_000, "iso-2022-jp").count("%26%2365533%3B$") == 50_000
    assert time.process_time() - begun < 1


def test_what_is_sent_is_encoded_as_browsers_do() -> None:
    assert encode("€あ😀", "gbk") == b"\x80\xa4\xa2&#128512;"
    assert encode("①", "euc-jp") == b"\xad\xa1"
    assert encode("é", "utf-16be") == "é".encode()
    assert encode("a\ud800", "windows-1252") == b"a?"


# Text of our own, in the encodings its readers used before UTF-8; nobody says which.
KOREAN = "오늘은 날씨가 맑고 바람이 조금 붑니다. 도서관은 아홉 시에 문을 엽니다."
JAPANESE = "今日は天気がよく、風が少し吹いています。図書館は九時に開きます。"
THAI = "วันนี้อากาศดีและมีลมเล็กน้อย ห้องสมุดเปิดเวลาเก้าโมงเช้า"
CHINESE = "今天天气很好，有一点风。图书馆九点开门，请带上您的证件。"
TAIWANESE = "今天天氣很好，有一點風。圖書館九點開門，請帶上您的證件。"
RUSSIAN = "Сегодня хорошая погода и небольшой ветер. Библиотека открывается в девять часов."
UNDECLARED = [
    (KOREAN, "cp949", "euc-kr"),
    (JAPANESE, "euc-jp", "euc-jp"),
    (JAPANESE, "cp932", "shift_jis"),
    (JAPANESE, "iso2022-jp", "iso-2022-jp"),
    (THAI, "cp874", "windows-874"),
    (CHINESE, "gb18030", "gbk"),
    (TAIWANESE, "big5", "big5"),
    (RUSSIAN, "cp1251", "windows-1251"),
    (RUSSIAN, "koi8-r", "koi8-u"),
]


@proves("E3")
@pytest.mark.parametrize(("text", "codec", "name"), UNDECLARED)
@pytest.mark.parametrize("ascii_before", [0, 20_000, 200_000])
def test_what_nobody_declared_is_guessed_wherever_it_begins(
    text: str, codec: str, name: str, ascii_before: int
) -> None:
    page = f"<html><body>{'<p>plain words' * (ascii_before // 14)}<p>{text}</p>"
    assert as_utf8(page.encode(codec)) == (page.encode(), name)


def test_utf_8_of_which_a_character_is_broken_is_still_utf_8() -> None:
    page = f"<p>{RUSSIAN}</p>".encode()
    broken = page[:60] + page[61:]
    assert guess(broken) == "utf-8"
    assert as_utf8(broken)[0].decode().count("\ufffd") == 1
    assert guess("é".encode() + b"<p>" + "naïve café, déjà vu".encode("latin-1")) == "windows-1252"


def test_a_guess_costs_little_whatever_the_page_holds() -> None:
    dice = random.Random(7)
    noise = bytes(dice.randrange(256) for _ in range(1 << 20))
    pages = [
        noise * 10,
        b"\xff" * 10_000_000,
        b"a" * 9_999_999 + b"\xe9",
        b"\xe9>" * 5_000_000,
        b"\x1b$B" * 3_000_000,
        (b"\xe9" + b"a" * 300) * 30_000,
        b"\0\x80" * 5_000_000,
    ]
    for page in pages:
        begun = time.process_time()
        guess(page)
        assert time.process_time() - begun < 0.5, page[:10]


@proves("E3")
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
