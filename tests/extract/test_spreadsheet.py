"""Excel: which sheets and cells are read, as their reader sees them, and what stands beside them."""

import pytest

from crawler.extract import gathered
from crawler.values import Link
from tests import packages
from tests.extract.documents import XLSX, read, text_of
from tests.packages import OPEN_XML, A, S

C = f"{OPEN_XML}drawingml/2006/chart"


def cell(value: object, kind: str = "", style: str = "", formula: str = "") -> str:
    attributes = (f' t="{kind}"' if kind else "") + (f' s="{style}"' if style else "")
    return f"<c{attributes}>{f'<f>{formula}</f>' if formula else ''}<v>{value}</v></c>"


def rows(*cells: str) -> str:
    return f"<sheetData><row>{''.join(cells)}</row></sheetData>"


STYLES = (
    '<numFmts><numFmt numFmtId="164" formatCode="[$-409]d\\-mmm\\-yy;@"/><numFmt numFmtId="165" formatCode="0.00"/>'
    '<numFmt numFmtId="166" formatCode="&quot;day &quot;0"/>'
    '<numFmt numFmtId="167" formatCode="yyyy\\-mm\\-dd hh:mm:ss"/>'
    '</numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/>'
    '<xf numFmtId="166"/><xf numFmtId="167"/><xf numFmtId="20"/><xf numFmtId="22"/></cellXfs>'
)


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        (cell(1, "s") + cell(0, "s") + cell(7, "s") + cell("x", "s"), "two one"),
        (cell("9" * 5_000, "s") + cell(3, style="9" * 5_000), "3"),
        (cell(2, "s"), "東京"),
        (cell(3, "s"), "Bold text"),
        (cell(4, "s"), "line end"),
        ('<c t="inlineStr"><is><t>here</t></is></c>', "here"),
        (cell("calculated", "str", formula='A1&"x"'), "calculated"),
        (cell(3, formula="1+2"), "3"),
        (cell(1, "b") + cell(0, "b") + cell("#REF!", "e"), "TRUE FALSE"),
        (cell("0.10000000000000001") + cell("1.5E+3") + cell("12345678901234567") + cell("1E-300"),
         "0.1 1500 12345678901234600 1e-300"),
        (cell(45356, style="1") + cell("45356.5", style="2") + cell("45356.75", style="7"),
         "2024-03-05 2024-03-05 2024-03-05 18:00"),
        (cell("45356.999", style="3") + cell(3, style="4"), "45356.999 3"),
        (cell("45356.2500115741", style="5") + cell("0.25", style="6"), "2024-03-05 06:00:01 06:00"),
        (cell(-1, style="1") + cell(99999999, style="1") + cell(1, style="99"), "-1 99999999 1"),
        (cell(1, style="1") + cell(60, style="1") + cell(61, style="1"), "1900-01-01 1900-02-28 1900-03-01"),
        (cell("2024-03-05", "d"), "2024-03-05"),
    ],
)  # fmt: skip
def test_cells_are_read_as_their_reader_sees_them(cells: str, text: str) -> None:
    shared = [
        "<t>one</t>", "<t>two</t>", '<t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh><phoneticPr/>',
        "<r><t>Bold</t></r><r><rPr><b/></rPr><t xml:space='preserve'> text</t></r>", "<t>line_x000D_end</t>",
    ]  # fmt: skip
    assert text_of(packages.sheets({"": rows(cells)}, shared, STYLES), XLSX) == text


def test_a_workbook_may_count_its_days_from_1904() -> None:
    body = packages.sheets({"": rows(cell(0, style="1"))}, styles=STYLES)
    with packages.opened(body) as parts:
        parts["xl/workbook.xml"] = parts["xl/workbook.xml"].replace("<sheets>", '<workbookPr date1904="1"/><sheets>')
    assert text_of(packages.zipped(dict(parts)), XLSX) == "1904-01-01"


def test_sheets_come_in_their_order_with_their_names_and_hidden_ones_not_at_all() -> None:
    hidden_row = '<sheetData><row hidden="1"><c><v>2</v></c></row></sheetData>'
    body = packages.sheets({"Zebra": rows(cell(1)), "Lists (hidden)": rows(cell(9)), "Apple": hidden_row})
    assert text_of(body, XLSX) == "Zebra 1 Apple 2"


def test_comments_text_boxes_headers_and_charts_of_a_sheet_are_read() -> None:
    links = [("c", "comments", "../comments1.xml"), ("d", "drawing", "../drawings/d.xml")]
    drawing = f'<x xmlns:a="{A}"><pos>12345</pos><a:p><a:r><a:t>box</a:t></a:r></a:p></x>'
    chart = f'<c:chart xmlns:c="{C}" xmlns:a="{A}"><a:t>Title</a:t><c:strCache><c:v>cell</c:v></c:strCache></c:chart>'
    parts = {
        "xl/comments1.xml": (
            f'<comments xmlns="{S}"><authors><author>Ann</author></authors><commentList><comment ref="A1"><text><r><t>'
            "remark</t></r></text></comment></commentList></comments>"
        ),
        "xl/drawings/d.xml": drawing,
        "xl/drawings/_rels/d.xml.rels": packages.relationships([("k", "chart", "../charts/c.xml")]),
        "xl/charts/c.xml": chart,
    }
    sheet = rows(cell(5)) + '<headerFooter><oddHeader>&amp;L&amp;"Arial"&amp;12Report &amp;P</oddHeader></headerFooter>'
    body = packages.sheets({"One": sheet}, links=links, parts=parts)
    assert text_of(body, XLSX) == "One 5 Report remark box Title"


def test_a_conversation_is_read_once() -> None:
    space = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"
    parts = {
        "xl/c.xml": f'<comments xmlns="{S}"><comment><t>[Threaded comment] old Excel hello</t></comment></comments>',
        "xl/t.xml": f'<T xmlns="{space}"><threadedComment id="{{1}}"><text>hello</text></threadedComment></T>',
    }
    links = [("c", "comments", "../c.xml"), ("t", "threadedComment", "../t.xml")]
    assert text_of(packages.sheets({"One": rows()}, links=links, parts=parts), XLSX) == "One hello"


def test_links_of_sheets_are_links() -> None:
    sheet = rows(cell("x", "str", formula='HYPERLINK("http://c.org/","x")'))
    sheet += '<hyperlinks><hyperlink ref="A1" r:id="h" display="Site"/><hyperlink location="S!A1"/></hyperlinks>'
    page = read(packages.sheets({"One": sheet}, links=[("h", "hyperlink", "http://b.org/")]), XLSX)
    assert page.links == [Link("http://c.org/"), Link("http://b.org/", "Site")]


def test_one_text_that_is_named_very_often_is_not_kept_very_often() -> None:
    body = packages.sheets({"": rows(*[cell(0, "s")] * 30_000)}, [f"<t>{'word ' * 20_000}</t>"])
    page = read(body, XLSX)
    assert page.flags == ["text_cut"] and len(page.text) == gathered.TEXT_AT_MOST


def test_a_sheet_that_ends_early_is_read_as_far_as_it_goes() -> None:
    body = packages.sheets({"": rows(cell(1), cell(2))})
    with packages.opened(body) as parts:
        parts["xl/worksheets/s1.xml"] = parts["xl/worksheets/s1.xml"].replace(
            "</row></sheetData></worksheet>", "</row><ro"
        )
    assert text_of(packages.zipped(dict(parts)), XLSX) == "1 2"


def test_a_sheet_that_is_listed_very_often_is_read_once() -> None:
    body = packages.sheets({"One": rows(cell(1))})
    with packages.opened(body) as parts:
        parts["xl/workbook.xml"] = parts["xl/workbook.xml"].replace(
            "</sheets>", '<sheet name="Two" r:id="rId1"/>' * 100_000 + "</sheets>"
        )
    assert text_of(packages.zipped(dict(parts)), XLSX) == "One 1"
