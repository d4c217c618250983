"""RTF as Word, WordPad, LibreOffice, Outlook and StarWriter write it: what is text, in which code page, what is not."""

import time

import pytest

from crawler.extract.charsets import codepages
from crawler.extract.office import rtf
from crawler.values import Link
from tests.extract.documents import read

RTF = "application/rtf"
FONTS = (
    rb"{\fonttbl{\f0\fswiss\fcharset0 Arial;}{\f1\fcharset238 Arial CE;}{\f2\fcharset204{\*\fname Arial;}Arial Cyr;}"
    rb"{\f3\fcharset128 MS Mincho;}{\f4\fcharset134 SimSun;}{\f5\fcharset129 Batang;}{\f6\fcharset136 MingLiU;}"
    rb"{\f7\fcharset161 G;}{\f8\fcharset1 Own;}{\f9\fcharset0\cpg1251 Page;}}"
)


def text_of(body: bytes) -> str:
    return read(rb"{\rtf1\ansi\ansicpg1252\deff0 " + body + b"}", RTF).text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb"Tom\rquote s \lquote in\rquote , \ldblquote out\rdblquote", "Tom’s ‘in’, “out”"),
        (rb"1990\endash 95\emdash over\bullet one", "1990–95—over•one"),
        (rb"a\tab b\line c\par d\cell e\row f\page g\sect h\nestcell i", "a b c d e f g h i"),
        (rb"a\~b\_c\-d\{e\}\\f", r"a b-cd{e}\f"),
        (b"a\\\nb\\\tc", "a b c"),
        (b"one\r\n two\n, three", "one two, three"),
        (rb"v\emspace w\enspace x", "v w x"),
    ],
)
def test_signs_that_have_words_of_their_own_are_text(body: bytes, text: str) -> None:
    assert text_of(body) == text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb"\f1 \'9elu\'9dou\'e8k\'fd", "žluťoučký"),
        (rb"\f2 \'cf\'f0\'e8\'e2\'e5\'f2 \f0 \'e9t\'e9", "Привет été"),
        (rb"\f3 \'93\'fa\'96\'7b", "日本"),
        (rb"\f3 \'83A\'83\\", "アソ"),
        (rb"\f4 \'d6\'d0\'b9\'fa", "中国"),
        (rb"\f5 \'c7\'d1\'b1\'b9", "한국"),
        (rb"\f6 \'a4\'a4\'a4\'e5", "中文"),
        (rb"\f7 \'e1\'e2\'e3", "αβγ"),
        (rb"\f8 caf\'e9", "café"),
        (rb"\f9 \'c4\'e0", "Да"),
        (rb"{\f2 \'c4\'e0} \'e9", "Да é"),
        (rb"\f2 \'c4\'e0\plain  \'e9", "Да é"),
        (b"\\f2 \xc4\xe0", "Да"),
    ],
)
def test_bytes_are_read_in_the_code_page_of_their_font(body: bytes, text: str) -> None:
    assert text_of(FONTS + body) == text


@pytest.mark.parametrize(
    ("head", "text"),
    [
        (rb"\ansi\ansicpg1250", "ž"), (rb"\ansi\ansicpg1251", "ћ"), (rb"\ansi", "ž"), (rb"\mac", "û"),
        (rb"\pca", "×"), (rb"\pc", "₧"), (rb"\ansi\ansicpg0", "ž"), (rb"\ansi\ansicpg99999", "ž"),
    ],
)  # fmt: skip
def test_the_document_has_a_code_page_of_its_own(head: bytes, text: str) -> None:
    assert read(rb"{\rtf1" + head + rb" \'9e}", RTF).text == text


def test_every_code_page_that_is_named_has_a_codec() -> None:
    for number in codepages._CHARSETS.values():
        assert number == 1252 or codepages.by_number(number) != codepages.WESTERN, number
    assert all(codepages.by_number(number) != codepages.WESTERN for number in codepages._CODECS)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb"\u8364?x", "€x"),
        (rb"\u8364\'80x", "€x"),
        (rb"\uc2\u26085\'93\'fax", "日x"),
        (rb"\uc0\u8364 x\u8364 y", "€x€y"),
        (rb"{\uc2\u8364 ab}\u8364 cd", "€€d"),
        (rb"\u-10179?\u-8704?", "\U0001f600"),
        (rb"\u55357?\u56832?", "\U0001f600"),
        (rb"\u128512?!", "\U0001f600!"),
        (rb"\u-3913?item", "item"),
        (rb"\u8217\rquote s", "’s"),
        (rb"{\u8364}?x", "€?x"),
        (rb"a\u-10179?b", "ab"),
        (rb"\uc1\u8364\bin3 }{\x", "€x"),
    ],
)
def test_unicode_replaces_what_stands_in_for_it(body: bytes, text: str) -> None:
    assert text_of(body) == text


@pytest.mark.parametrize(
    "hidden",
    [
        rb"{\mmathPr\mmathFont34\mbrkBin0}", rb"{\*\mmathPr\mmathFont34}", rb"{\*\unknown secret{\b more}}",
        rb"{\colortbl;\red0\green0\blue0;}", rb"{\stylesheet{\s0 Normal;}{\*\cs10 Default;}}",
        rb"{\info{\author A. Writer}{\operator B}{\*\company C}}", rb"{\pict\wmetafile8 0102ff}",
        rb"{\*\themedata 504b0304}{\*\datastore 0105}{\*\colorschememapping 3c3f}", rb"{\pict\bin5 }{\}x}",
        rb"{\*\listtable{\list{\listname L;}}}{\listoverridetable{\listoverride\ls1}}", rb"{\list{\listname List1;}}",
        rb"{\listtext\pard 1.\tab}{\*\pntext 2.}{\pntext 3.}", rb"{\*\bkmkstart place}{\bkmkend place}",
        rb"{\*\generator Word 10}", rb"{\xe {\v index}}{\tc table}", rb"{\v hidden}{\v\b also\b0 this}",
        rb"{\deleted gone\u233 ?}", rb"\v from here\v0 ", rb"{\object{\*\objdata 01}{\*\objclass Word}}",
        rb"{\shp{\*\shpinst{\sp{\sn name}{\sv value}}}{\shprslt again}}", rb"{\*\ftnsep \chftnsep}",
        rb"{\mvf moved away}", rb"{\upr{\*\unknown x}{\*\ud{\*\bkmkstart y}}}", rb"{\*\htmltag64 <p>}",
        rb"{\fldinst PAGE}", b"{\n\\*\\unknown secret}", rb"{\atrfstart 1}{\*\atnid JD}{\atnauthor John}",
    ],
)  # fmt: skip
def test_what_is_no_text_is_left_out(hidden: bytes) -> None:
    assert text_of(b"be" + hidden + b"fore") == "before"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb"{\f0\i0\*\cs7 The fox}", "The fox"),  # the star counts at the beginning of a group
        (rb"{\field{\*\fldinst PAGE}{\fldrslt 7}}", "7"),
        (rb"{\field{\*\fldinst{ IF {\field{\*\fldinst PAGE}{\fldrslt 3}} = 3}}{\fldrslt yes}}", "yes"),
        (rb"{\object{\*\objdata 01}{\result{\pict 01}words}}", "words"),
        (rb"{\upr{ansi ?}{\*\ud{\u26085 ?}}}", "日"),
        (rb"{\mmath{\*\moMath{\mf{\mfPr{\mctrlPr\f1}}{\mnum{\mr x}}{\mden{\mr y}}}}{\*\mmathPict 01}}", "xy"),
        (rb"{\*\do{\dptxbxtext box}}", "box"),
        (rb"{\revised new}", "new"),
        (rb"x{\v0 seen}", "xseen"),
        (rb"{\v a\plain b}", "b"),
    ],
)
def test_what_is_text_all_the_same_is_read(body: bytes, text: str) -> None:
    assert text_of(body) == text


def test_notes_headers_comments_and_boxes_follow_the_text() -> None:
    body = (
        rb"{\header Head\par}{\footerr Foot}one{\footnote note} two{\*\annotation comment} three"
        rb"{\shp{\*\shpinst{\sp{\sn a}{\sv b}}{\shptxt box\par}}{\shprslt box}} four"
    )
    assert text_of(body) == "one two three four Head Foot note comment box"


def test_fields_are_links() -> None:
    body = (
        rb'{\field{\*\fldinst{HYPERLINK "http://b.org/x" \\o "tip"}}{\fldrslt{\ul the site}}}'
        rb'{\field{\*\fldinst HYPERLINK \\l "bookmark"}{\fldrslt inside}}'
        rb"{\field{\*\fldinst HYPERLINK other.rtf}{\fldrslt Other}}"
        rb'{\field{\*\fldinst PAGEREF "http://no.org"}{\fldrslt 3}}'
        rb'{\field{\*\fldinst HYPERLINK \\l "frag" "sub/page.htm"}{\fldrslt sub}}'
    )
    page = read(rb"{\rtf1 " + body + b"}", RTF)
    assert page.links == [
        Link("http://b.org/x", "the site"), Link("http://a.org/d/other.rtf", "Other"),
        Link("http://a.org/d/sub/page.htm", "sub"),
    ]  # fmt: skip
    assert page.text == "the siteinsideOther3sub"


def test_the_title_is_that_of_the_properties() -> None:
    assert read(rb"{\rtf1{\info{\title My caf\'e9}{\author A}}x}", RTF).title == "My café"
    both = rb"{\info{\upr{\title ??}{\*\ud{\title\u26085 ?}}}{\upr{\author ?}{\*\ud{\author\u233 ?}}}}"
    page = read(rb"{\rtf1" + both + b"x}", RTF)
    assert (page.title, page.text) == ("日", "x")


@pytest.mark.parametrize("body", [b"{\\rtf1 one", b"{\\rtf1 one}}} two", b"{\\rtf1 one}\0\0", b"{\\rtf1 one\\", b"one"])
def test_what_is_broken_is_read_as_far_as_it_goes(body: bytes) -> None:
    assert read(body, RTF).text == "one"


MEGABYTE = 1_000_000
HOSTILE = {
    "groups": b"{" * MEGABYTE,
    "empty groups": b"{}" * (MEGABYTE // 2),
    "fields in fields": b'{\\field{\\*\\fldinst HYPERLINK "a"}{\\fldrslt ' * (MEGABYTE // 46),
    "fields around all": b'{\\field{\\*\\fldinst HYPERLINK "a"}{\\fldrslt x' * 10_000 + b"}}" * 10_000,
    "fonts": b"{\\fonttbl" + b"".join(b"{\\f%d\\fcharset204 A;}" % number for number in range(MEGABYTE // 24)) + b"}",
    "fonts that change": b"{\\fonttbl{\\f1\\fcharset204 B;}}" + b"\\f0 a\\f1 b" * (MEGABYTE // 10),
    "characters": b"\\u-10179?\\u-8704?" * (MEGABYTE // 17),
    "backslashes": b"\\" * MEGABYTE,
    "stars": b"{\\*" * (MEGABYTE // 3),
    "notes": b"{\\footnote x}" * (MEGABYTE // 13),
    "empty binaries": b"\\bin0 " * (MEGABYTE // 6),
    "one word": b"\\" + b"a" * MEGABYTE,
    "quotes": b"{\\field{\\*\\fldinst HYPERLINK " + b'"' * MEGABYTE + b"}{\\fldrslt x}}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_twice_the_bytes_take_about_twice_the_time(name: str) -> None:
    body = HOSTILE[name]
    once, twice = (min(_seconds(b"{\\rtf1 " + body * times) for _ in range(2)) for times in (1, 2))
    assert twice < max(4 * once, 0.2)


def _seconds(body: bytes) -> float:
    began = time.process_time()
    rtf.read_rtf(body)
    return time.process_time() - began


def test_fields_around_one_long_text_do_not_copy_it_for_each() -> None:
    """80,000 of them around four megabytes would be 320 gigabytes."""
    field, words = b"{\\field{\\*\\fldinst HYPERLINK a}{\\fldrslt ", b"x" * 2 * MEGABYTE

    def around(text: bytes) -> float:
        return _seconds(b"{\\rtf1 " + field * 80_000 + text + b"}}" * 80_000 + b"}")

    assert around(words + b"\\par " + words) < 2 * around(b"x\\par x") + 0.5
