"""Word, Excel and PowerPoint: which parts are read, and what in them is text."""

import time

import pytest

from crawler.extract import gathered, office, package
from crawler.values import Link
from tests import packages
from tests.packages import OPEN_XML, SPACES, STRICT, A, S
from tests.unit.documents import DOCX, PPTX, XLSX, read, text_of

C = f"{OPEN_XML}drawingml/2006/chart"
DGM = f"{OPEN_XML}drawingml/2006/diagram"


def run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def paragraph(*runs: str) -> str:
    return f"<w:p>{''.join(runs)}</w:p>"


def mark(kind: str) -> str:
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


def instruction(text: str) -> str:
    return f'<w:r><w:instrText xml:space="preserve">{text}</w:instrText></w:r>'


def box(text: str) -> str:
    return f"<w:txbxContent>{paragraph(run(text))}</w:txbxContent>"


# -- Word -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f'{run("kept")}<w:del w:id="1"><w:r><w:delText>gone</w:delText></w:r></w:del>', "kept"),
        (f'{run("kept")}<w:del w:id="1">{run("gone")}</w:del><w:ins w:id="2">{run("new")}</w:ins>', "keptnew"),
        (f'<w:moveFrom w:id="1">{run("from")}</w:moveFrom><w:moveTo w:id="1">{run("to")}</w:moveTo>', "to"),
        (f'{mark("begin")}{instruction(" PAGEREF _Toc1 h ")}{mark("separate")}{run("12")}{mark("end")}', "12"),
        (f'<w:fldSimple w:instr=" AUTHOR ">{run("Ann")}</w:fldSimple>', "Ann"),
        (run("hidden", "<w:vanish/>") + run("seen", '<w:vanish w:val="0"/>') + run("too", "<w:b/>"), "seentoo"),
        ("<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t></w:r>", "a b c-d"),
        ('<w:r><w:t>op</w:t><w:softHyphen/><w:t>tion</w:t><w:sym w:font="Wingdings" w:char="F0B7"/></w:r>', "option"),
        ('<w:r><w:sym w:font="Times" w:char="03B1"/></w:r>', "α"),
        (f"<w:ruby><w:rt>{run('kana')}</w:rt><w:rubyBase>{run('kanji')}</w:rubyBase></w:ruby>{run('next')}",
         "kanjinext kana"),
        (f'<w:tbl><w:tr><w:tc>{paragraph(run("a"))}</w:tc><w:tc>{paragraph(run("b"))}</w:tc></w:tr></w:tbl>', "a b"),
        (f"<w:sdt><w:sdtPr><w:t>no</w:t></w:sdtPr><w:sdtContent>{run('yes')}</w:sdtContent></w:sdt>", "yes"),
        ("<w:drawing><wp:anchor xmlns:wp='x'><wp:positionH><wp:posOffset>914400</wp:posOffset></wp:positionH>"
         "<wp14:pctWidth xmlns:wp14='y'>0</wp14:pctWidth></wp:anchor></w:drawing>", ""),
    ],
)  # fmt: skip
def test_text_of_word_is_what_its_reader_sees(body: str, text: str) -> None:
    assert text_of(packages.word(paragraph(body)), DOCX) == text


def test_an_instruction_in_an_instruction_is_none_of_the_text() -> None:
    inner = mark("begin") + instruction(" MERGEFIELD x ") + mark("separate") + run("inner") + mark("end")
    outer = mark("begin") + instruction(" IF ") + inner + instruction(' = "a" ') + mark("separate") + run("shown")
    assert text_of(packages.word(paragraph(outer + mark("end") + run(" on"))), DOCX) == "shown on"


def test_a_field_without_end_hides_nothing() -> None:
    body = paragraph(run("one "), mark("begin"), instruction("PAGE"), run("two"))
    assert text_of(packages.word(body + paragraph(run("three"))), DOCX) == "one twothree"


@pytest.mark.parametrize(
    ("choice", "text"),
    [
        ('Requires="wps"', "before after box"),
        ('Requires="wps own"', "before after fall"),
        ("", "before after box"),
    ],
)
def test_of_alternatives_exactly_one_is_read(choice: str, text: str) -> None:
    body = (
        f'<mc:AlternateContent xmlns:own="http://example.org/own"><mc:Choice {choice}><w:drawing><wps:txbx>{box("box")}'
        f"</wps:txbx></w:drawing></mc:Choice><mc:Choice Requires='wps'>{box('second')}</mc:Choice>"
        f"<mc:Fallback><w:pict>{box('fall')}</w:pict></mc:Fallback></mc:AlternateContent>"
    )
    if "own" in choice:
        body = body.replace(f"<mc:Choice Requires='wps'>{box('second')}</mc:Choice>", "")
    assert text_of(packages.word(paragraph(run("before "), f"<w:r>{body}</w:r>", run("after"))), DOCX) == text


def test_all_parts_with_words_are_read_and_once() -> None:
    kinds = {
        "hd": ("header", "hdr", "heading"), "f": ("footer", "ftr", "footing"), "fn": ("footnotes", "footnotes", "note"),
        "en": ("endnotes", "endnotes", "end"), "c": ("comments", "comments", "remark"),
    }  # fmt: skip
    parts = {name: f"<w:{root} {SPACES}>{paragraph(run(text))}</w:{root}>" for name, (_, root, text) in kinds.items()}
    related = [(f"r{name}", kind, f"{name}.xml") for name, (kind, *_) in kinds.items()]
    related += [("again", "header", "/word/hd.xml"), ("s", "styles", "styles.xml"), ("g", "glossaryDocument", "g.xml")]
    related += [("ch", "chart", "charts/one.xml"), ("sm", "diagramData", "diagrams/d.xml")]
    other = {
        "styles": f"<w:styles {SPACES}>{run('style')}</w:styles>", "g": f"<w:x {SPACES}>{run('glossary')}</w:x>",
        "charts/one": (
            f'<c:chart xmlns:c="{C}" xmlns:a="{A}"><c:title><c:rich><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:rich>'
            "</c:title><c:ser><c:f>S!A1</c:f><c:strCache><c:pt><c:v>North</c:v></c:pt><c:pt><c:v>South</c:v></c:pt>"
            "</c:strCache><c:numCache><c:pt><c:v>4.3</c:v></c:pt></c:numCache></c:ser></c:chart>"
        ),
        "diagrams/d": (
            f'<d:dataModel xmlns:d="{DGM}" xmlns:a="{A}"><d:pt modelId="{{0C5B}}"><d:prSet phldrT="[Text]"/><d:t><a:p>'
            "<a:r><a:t>Boss</a:t></a:r></a:p></d:t></d:pt></d:dataModel>"
        ),
    }  # fmt: skip
    body = packages.word(paragraph(run("body")), related, **parts, **other)
    assert text_of(body, DOCX) == "body note end remark heading footing Sales North South Boss"


@pytest.mark.parametrize(
    "name", ["word/document2.xml", "text.xml", "a b/ü.xml", "word/DOCUMENT.XML"],
)  # fmt: skip
def test_parts_are_found_by_relationships(name: str) -> None:
    document = f"<w:document {SPACES}>{paragraph(run('found'))}</w:document>"
    for target in (name, f"/{name}", name.replace(" ", "%20"), name.lower(), name.replace("/", "\\")):
        start = packages.relationships([("rId1", "officeDocument", target)])
        assert text_of(packages.zipped({"_rels/.rels": start, name: document}), DOCX) == "found"


def test_without_relationships_the_types_say_which_part_it_is() -> None:
    types = (
        f'<Types xmlns="{OPEN_XML}package/2006/content-types"><Override PartName="/x.xml" ContentType="a/theme+xml"/>'
        '<Override PartName="/d.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.'
        'document.main+xml"/></Types>'
    )
    body = packages.zipped({"[Content_Types].xml": types, "d.xml": f"<w:document {SPACES}>{run('found')}</w:document>"})
    assert text_of(body, DOCX) == "found"


def test_the_strict_edition_is_read_as_the_other() -> None:
    body = packages.word(
        f'{paragraph(run("strict"))}<w:del>{run("gone")}</w:del><w:hyperlink r:id="h">{run("link")}</w:hyperlink>',
        [("h", "hyperlink", "http://b.org/")],
    )
    strict = {
        OPEN_XML + "wordprocessingml/2006/main": STRICT + "wordprocessingml/main",
        OPEN_XML + "officeDocument/2006/relationships": STRICT + "officeDocument/relationships",
    }
    with packages.opened(body) as parts:
        for old, new in strict.items():
            parts = {name: text.replace(old, new) for name, text in parts.items()}
    page = read(packages.zipped(dict(parts)), DOCX)
    assert (page.text, page.links) == ("strict link", [Link("http://b.org/", "link")])


def test_the_contents_decide_what_kind_of_document_it_is() -> None:
    """Servers mix up the types of office documents."""
    body = packages.sheets({"Sheet": "<sheetData><row><c><v>7</v></c></row></sheetData>"})
    assert text_of(body, DOCX) == "Sheet 7"
    assert text_of(packages.open_document("<text:p>open</text:p>"), DOCX) == "open"


def test_a_broken_part_costs_only_itself() -> None:
    related = [("r1", "header", "h.xml"), ("r2", "footer", "missing.xml"), ("r3", "footnotes", "n.xml")]
    notes = f"<w:footnotes {SPACES}>{run('note')}</w:footnotes>"
    assert text_of(packages.word(run("body"), related, h="<broken", n=notes), DOCX) == "body note"


def test_links_of_word_are_links() -> None:
    related = [
        ("a", "hyperlink", "http://b.org/x#frag"), ("b", "hyperlink", "mailto:a@b.org"), ("i", "image", "i.png"),
        ("h", "header", "h.xml"),
    ]  # fmt: skip
    field = mark("begin") + instruction(' HYPERLINK "http://c.org/" \\o "tip" ') + mark("separate") + run("see")
    body = paragraph(
        f'<w:hyperlink r:id="a">{run("the ")}{run("site")}</w:hyperlink>',
        f'<w:hyperlink r:id="b">{run("mail")}</w:hyperlink>',
        f'<w:hyperlink w:anchor="inside">{run("inside")}</w:hyperlink>',
        field + mark("end"),
        f"""<w:fldSimple w:instr='HYPERLINK "next.docx"'>{run("next")}</w:fldSimple>""",
        '<w:drawing><wp:docPr xmlns:wp="x"><a:hlinkClick r:id="a"/></wp:docPr></w:drawing>',
        '<v:shape xmlns:v="urn:schemas-microsoft-com:vml" href="http://e.org/" title="Old"/>',
    )
    header = f'<w:hdr {SPACES}><w:hyperlink r:id="a">{run("other")}</w:hyperlink></w:hdr>'
    with packages.opened(packages.word(body, related, h=header)) as parts:
        parts["word/_rels/h.xml.rels"] = packages.relationships([("a", "hyperlink", "http://d.org/")])
    page = read(packages.zipped(dict(parts)), DOCX)
    assert [(link.url, link.anchor) for link in page.links] == [
        ("http://b.org/x", "the site"), ("mailto:a@b.org", "mail"), ("http://c.org/", "see"),
        ("http://a.org/d/next.docx", "next"), ("http://b.org/x", ""),
        ("http://e.org/", "Old"), ("http://d.org/", "other"),
    ]  # fmt: skip


# -- Excel ------------------------------------------------------------------------------------------------------


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


# -- PowerPoint -------------------------------------------------------------------------------------------------


def words(text: str) -> str:
    return f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>"


def test_slides_come_in_the_order_of_the_show() -> None:
    assert text_of(packages.slides([words("one"), words("two"), words("three")]), PPTX) == "one two three"


def test_notes_comments_and_what_stands_behind_a_slide_are_read() -> None:
    shape = "<p:sp><p:nvSpPr><p:nvPr>{}</p:nvPr></p:nvSpPr><p:txBody>{}</p:txBody></p:sp>"
    master = shape.format("<p:ph type='title'/>", words("Click to edit")) + shape.format("", words("Company"))
    slide = (
        words("slide") + "<a:tbl><a:tableStyleId>{5C22544A-7EE6-4342-B048-85BDC9FD1C3A}</a:tableStyleId>"
        f"<a:tr><a:tc>{words('x')}</a:tc><a:tc>{words('y')}</a:tc></a:tr></a:tbl>"
        '<a:p><a:fld type="slidenum"><a:t>1</a:t></a:fld></a:p>'
    )
    related: dict[str, list[packages.Related]] = {
        "ppt/slides/slide1.xml": [
            ("n", "notesSlide", "../notes.xml"), ("c", "comments", "../c.xml"), ("l", "slideLayout", "../l.xml"),
        ],
        "ppt/l.xml": [("m", "slideMaster", "m.xml")],
        "ppt/m.xml": [("l", "slideLayout", "l.xml"), ("o", "slideLayout", "other.xml"), ("t", "theme", "t.xml")],
    }  # fmt: skip
    parts = {
        "notes": f"<p:notes {SPACES}>{words('spoken')}</p:notes>",
        "c": f"<p:cmLst {SPACES}><p:cm><p:pos x='1' y='2'/><p:text>remark</p:text></p:cm></p:cmLst>",
        "l": f"<p:sldLayout {SPACES}>{shape.format('', words('Layout'))}</p:sldLayout>",
        "other": f"<p:sldLayout {SPACES}>{words('unused')}</p:sldLayout>",
        "m": f"<p:sldMaster {SPACES}>{master}</p:sldMaster>",
    }
    assert text_of(packages.slides([slide], related, **parts), PPTX) == "slide x y remark spoken Layout Company"


def test_links_of_slides_are_links() -> None:
    slide = (
        '<p:cNvPr><a:hlinkClick r:id="s"/></p:cNvPr><a:p>'
        '<a:r><a:rPr><a:hlinkClick r:id="h"/></a:rPr><a:t>see</a:t></a:r>'
        '<a:r><a:rPr><a:hlinkClick r:id="x" action="ppaction://hlinksldjump"/></a:rPr><a:t>next</a:t></a:r></a:p>'
    )
    related: dict[str, list[packages.Related]] = {
        "ppt/slides/slide1.xml": [
            ("h", "hyperlink", "http://b.org/"), ("s", "hyperlink", "http://c.org/"), ("x", "slide", "slide1.xml"),
        ]
    }  # fmt: skip
    page = read(packages.slides([slide], related), PPTX)
    assert page.links == [Link("http://c.org/"), Link("http://b.org/", "see")]


# -- written to take long ---------------------------------------------------------------------------------------

MANY = 20_000
FIELD = '<w:fldChar w:fldCharType="begin"/><w:instrText>HYPERLINK "a"</w:instrText>'
HOSTILE = {
    "open fields": FIELD + "<w:t>x</w:t>",
    "fields in fields": FIELD + '<w:fldChar w:fldCharType="separate"/><w:t>x</w:t>',
    "one long instruction": '<w:instrText>HYPERLINK "a" </w:instrText>',
    "links of one run": "<a:hlinkClick/>",
    "boxes": f"{box('x')}",
    "alternatives": '<mc:AlternateContent><mc:Choice Requires="wps"><w:t>x</w:t></mc:Choice></mc:AlternateContent>',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_twice_the_elements_take_about_twice_the_time(name: str) -> None:
    def seconds(count: int) -> float:
        body = packages.word(f"<w:p><a:r><a:rPr>{HOSTILE[name] * count}</a:rPr>{'<a:t>x</a:t>' * count}</a:r></w:p>")
        began = time.process_time()
        assert office.read_zip(body).text.strip()
        return time.process_time() - began

    once, twice = (min(seconds(count) for _ in range(2)) for count in (MANY, 2 * MANY))
    assert twice < max(4 * once, 0.2)


def test_of_a_document_that_is_too_large_for_memory_the_beginning_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    body = packages.word("".join(paragraph(run(f"word{number} ")) for number in range(1_000)))
    monkeypatch.setattr(package, "_TAGS_AT_MOST", 4_000)
    words = office.read_zip(body).text.split()
    assert 300 < len(words) < 600
    assert words == [f"word{number}" for number in range(len(words))]


def test_no_part_is_unpacked_twice() -> None:
    """A document may unpack to a hundred megabytes; what is unpacked again counts again."""
    body = packages.word(paragraph(run("a" * 1_000)) * 60_000, [("f", "footnotes", "f.xml")], f="<f/>")
    assert text_of(body, DOCX).count("a" * 1_000) == gathered.TEXT_AT_MOST // 1_001


def test_a_sheet_that_is_listed_very_often_is_read_once() -> None:
    body = packages.sheets({"One": rows(cell(1))})
    with packages.opened(body) as parts:
        parts["xl/workbook.xml"] = parts["xl/workbook.xml"].replace(
            "</sheets>", '<sheet name="Two" r:id="rId1"/>' * 100_000 + "</sheets>"
        )
    assert text_of(packages.zipped(dict(parts)), XLSX) == "One 1"
