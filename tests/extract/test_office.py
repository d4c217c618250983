"""Word and PowerPoint: which parts are read, and what in them is text."""

import time

import pytest

from crawler.extract import gathered
from crawler.extract.office import office_documents, zip_package
from crawler.values import Link
from tests import packages
from tests.extract.documents import DOCX, PPTX, read, text_of
from tests.packages import OPEN_XML, SPACES, STRICT, A

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
        (run("a") + '<w:r><w:sym w:char="zzzz"/><w:sym w:char="²"/></w:r>' + run("b"), "a b"),
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
        assert office_documents.read_zip(body).text.strip()
        return time.process_time() - began

    once, twice = (min(seconds(count) for _ in range(2)) for count in (MANY, 2 * MANY))
    assert twice < max(4 * once, 0.2)


def test_many_links_of_one_run_copy_its_words_once() -> None:
    """Each has all of them for its anchor: 20,000 links of a run of a megabyte would be 20 gigabytes."""
    links, words = '<a:hlinkClick r:id="l"/>' * 20_000, f"<a:t>{'x' * 500_000}</a:t>" * 2
    run_of_links = f"<a:r><a:rPr>{links}</a:rPr>{words}</a:r>"
    body = packages.word(run_of_links, [("l", "hyperlink", "http://b.org/")])
    began = time.process_time()
    assert len(office_documents.read_zip(body).links) == 20_000
    assert time.process_time() - began < 1


def test_alternatives_among_many_prefixes_do_not_look_at_all_of_them() -> None:
    prefixes = " ".join(f'xmlns:n{number}="u"' for number in range(10_000))
    choice = '<mc:AlternateContent><mc:Choice Requires="wps"><w:t>x</w:t></mc:Choice></mc:AlternateContent>'
    began = time.process_time()
    assert (
        office_documents.read_zip(packages.word(f"<w:p {prefixes}>{choice * 5_000}</w:p>")).text.strip() == "x" * 5_000
    )
    assert time.process_time() - began < 2
    own = choice.replace("wps", "own").replace("<mc:Choice", '<mc:Choice xmlns:own="http://schemas.microsoft.com/x"')
    assert text_of(packages.word(own), DOCX) == "x"


def test_of_a_document_that_is_too_large_for_memory_the_beginning_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    body = packages.word("".join(paragraph(run(f"word{number} ")) for number in range(1_000)))
    monkeypatch.setattr(zip_package, "_TAGS_AT_MOST", 4_000)
    words = office_documents.read_zip(body).text.split()
    assert 300 < len(words) < 600
    assert words == [f"word{number}" for number in range(len(words))]


def test_no_part_is_unpacked_twice() -> None:
    """A document may unpack to a hundred megabytes; what is unpacked again counts again."""
    body = packages.word(paragraph(run("a" * 1_000)) * 60_000, [("f", "footnotes", "f.xml")], f="<f/>")
    assert text_of(body, DOCX).count("a" * 1_000) == gathered.TEXT_AT_MOST // 1_001
