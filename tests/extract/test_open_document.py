"""OpenDocument texts, spreadsheets and presentations: what is text, and where links lead."""

import pytest

from clearinghouse.published import types
from crawler.values import Link
from tests import packages
from tests.extract.documents import OPEN_DOCUMENT, read
from tests.packages import ODF_SPACES, open_document

ODT, ODS, ODP = (OPEN_DOCUMENT + kind for kind in ("text", "spreadsheet", "presentation"))


def text_of(body: str, kind: str = "text", **parts: str) -> str:
    return read(open_document(body, kind, **parts), OPEN_DOCUMENT + kind).text


def paragraph(text: str) -> str:
    return f"<text:p>{text}</text:p>"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            "<text:tracked-changes><text:changed-region><text:deletion><office:change-info><dc:creator>Ann</dc:creator>"
            f"</office:change-info>{paragraph('gone')}</text:deletion></text:changed-region></text:tracked-changes>"
            f'{paragraph("ke<text:change text:change-id=" + chr(34) + "c" + chr(34) + "/>pt")}',
            "kept",
        ),
        ("<text:h>Head</text:h>" + paragraph("a<text:tab/>b<text:line-break/>c<text:s text:c='3'/>d"), "Head a b c d"),
        (paragraph("one<text:span>two<text:span>three</text:span></text:span>four"), "onetwothreefour"),
        (
            paragraph(
                "word<text:note><text:note-citation>1</text:note-citation><text:note-body>" + paragraph("the note")
                + "</text:note-body></text:note> goes on"
            ),
            "word goes on the note",
        ),
        (
            paragraph(
                "a<office:annotation><dc:creator>Ann</dc:creator><dc:date>2020-01-01</dc:date>" + paragraph("remark")
                + "</office:annotation>b"
            ),
            "ab remark",
        ),
        (paragraph(f"x<draw:frame><draw:text-box>{paragraph('box')}</draw:text-box></draw:frame>y"), "xy box"),
        (
            paragraph(
                "x<draw:rect><svg:title xmlns:svg='s'>alternative</svg:title>" + paragraph("shape") + "</draw:rect>y"
            ),
            "xy shape",
        ),
        (paragraph("base<text:ruby-text>reading</text:ruby-text> page <text:page-number>3</text:page-number>"),
         "base page"),
        (paragraph('a<text:hidden-text text:is-hidden="true">no</text:hidden-text>b'), "ab"),
        ('<text:section text:display="none">' + paragraph("no") + "</text:section>" + paragraph("yes"), "yes"),
        ("<text:sequence-decls/>not in a paragraph<text:list><text:list-item>" + paragraph("item")
         + "</text:list-item></text:list>", "item"),
    ],
)  # fmt: skip
def test_text_is_what_stands_in_paragraphs(body: str, text: str) -> None:
    assert text_of(body) == text


def test_hidden_text_is_left_out() -> None:
    styles = (
        '<style:style style:name="T1"><style:text-properties text:display="none"/></style:style>'
        '<style:style style:name="T2"><style:text-properties/></style:style>'
    )
    body = paragraph('a<text:span text:style-name="T1">no</text:span>b<text:span text:style-name="T2">c</text:span>')
    assert text_of(body, styles=styles) == "abc"


def test_headers_and_footers_are_read_unless_they_are_off() -> None:
    styles = (
        f"<office:document-styles {ODF_SPACES}><office:styles>{paragraph('no')}</office:styles><style:master-page>"
        f"<style:header>{paragraph('Head')}</style:header><style:header-left style:display='false'>{paragraph('Left')}"
        f"</style:header-left><style:footer>{paragraph('Foot')}</style:footer></style:master-page>"
        "</office:document-styles>"
    )
    body = open_document(paragraph("body"))
    with packages.opened(body) as parts:
        parts["styles.xml"] = styles
        parts["meta.xml"] = f"<office:document-meta {ODF_SPACES}><dc:title>Its title</dc:title></office:document-meta>"
    page = read(packages.zipped(dict(parts)), ODT)
    assert (page.title, page.text) == ("Its title", "body Head Foot")


def test_sheets_have_names_and_hidden_ones_are_left_out() -> None:
    styles = '<style:style style:name="ta2"><style:table-properties table:display="false"/></style:style>'
    cell = "<table:table-row><table:table-cell office:value='0.5'>{}</table:table-cell></table:table-row>"
    remark = f"<office:annotation>{paragraph('remark')}</office:annotation>"
    body = (
        f"<table:tracked-changes>{paragraph('old')}</table:tracked-changes>"
        f"<table:content-validations>{paragraph('wrong!')}</table:content-validations>"
        f"<table:table table:name='One'>{cell.format(paragraph('50 %'))}</table:table>"
        f"<table:table table:name='Lists' table:style-name='ta2'>{cell.format(paragraph('secret'))}</table:table>"
        f"<table:table table:name='Two'>{cell.format(remark)}</table:table>"
    )
    footer = (
        f"<office:document-styles {ODF_SPACES}><style:master-page><style:footer><style:region-center>"
        f"{paragraph('Page <text:page-number>1</text:page-number>')}</style:region-center></style:footer>"
        "</style:master-page></office:document-styles>"
    )
    with packages.opened(open_document(body, "spreadsheet", styles)) as parts:
        parts["styles.xml"] = footer
    page = read(packages.zipped(dict(parts)), ODS)
    assert (page.type_id, page.text) == (types.ODS, "One 50 % Two remark Page")


def test_slides_with_their_notes_and_what_stands_behind_them_are_read() -> None:
    body = (
        f"<presentation:footer-decl>Footer</presentation:footer-decl><draw:page draw:name='page1'>"
        f"<draw:custom-shape>{paragraph('shape')}</draw:custom-shape><presentation:notes>"
        f"<draw:frame><draw:text-box>{paragraph('spoken')}</draw:text-box></draw:frame></presentation:notes></draw:page>"
    )
    frame = "<draw:frame presentation:class='{}'><draw:text-box>{}</draw:text-box></draw:frame>"
    styles = (
        f"<office:document-styles {ODF_SPACES}><style:master-page>{frame.format('title', paragraph('Click'))}"
        f"{frame.format('footer', paragraph('Company'))}</style:master-page></office:document-styles>"
    )
    deck = open_document(body, "presentation")
    with packages.opened(deck) as parts:
        parts["styles.xml"] = styles
    page = read(packages.zipped(dict(parts)), ODP)
    assert (page.type_id, page.text) == (types.ODP, "Footer shape spoken Company")


def test_objects_in_a_document_are_read() -> None:
    body = open_document(paragraph("before<draw:object xlink:href='./Object 1'/>after"))
    chart = (
        f"<office:document-content {ODF_SPACES}><office:body><office:chart>{paragraph('Sales')}</office:chart>"
        "</office:body></office:document-content>"
    )
    with packages.opened(body) as parts:
        parts["Object 1/content.xml"] = chart
    assert read(packages.zipped(dict(parts)), ODT).text == "beforeafter Sales"


def test_links_are_seen_from_where_the_document_lies() -> None:
    places = ["http://b.org/x", "../next.odt", "/top.html", "#inside", "Object 1", "mailto:a@b.org"]
    body = paragraph("".join(f"<text:a xlink:href='{place}'>to <text:span>it</text:span></text:a>" for place in places))
    page = read(open_document(body + "<draw:a xlink:href='http://c.org/'><draw:frame/></draw:a>"), ODT)
    assert page.links == [
        Link("http://b.org/x", "to it"), Link("http://a.org/d/next.odt", "to it"),
        Link("http://a.org/top.html", "to it"), Link("mailto:a@b.org", "to it"), Link("http://c.org/"),
    ]  # fmt: skip
