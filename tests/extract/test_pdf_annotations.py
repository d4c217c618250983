"""PDF: the annotations that lead to an address are links; those that people wrote are text."""

import time

from crawler.extract.office import pdf
from crawler.extract.packed_links import LINKS_AT_MOST
from crawler.extract.plain_text import TEXT_AT_MOST
from crawler.values import Link
from tests.extract.documents import read

PDF = "application/pdf"


def document(annotations: list[bytes], text: bytes = b"Hello PDF", more: bytes = b"") -> bytes:
    """One page, and the objects `more` after it; PDFium finds its way without a table of objects."""
    drawn = b"BT /F1 24 Tf 50 200 Td (" + text + b") Tj ET"
    return (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Kids[3 0 R 9 0 R]/Count 2>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Resources<</Font<</F1 5 0 R>>>>/Contents 4 0 R/Annots["
        + b" ".join(annotations)
        + b"]>>endobj\n4 0 obj<</Length %d>>stream\n%b\nendstream endobj\n" % (len(drawn), drawn)
        + b"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n"
        + more
        + b"trailer<</Root 1 0 R>>\n"
    )


def link(action: bytes, rectangle: bytes = b"40 190 130 230") -> bytes:
    return b"<</Type/Annot/Subtype/Link/Rect[" + rectangle + b"]/A<<" + action + b">>>>"


def test_annotations_that_lead_to_an_address_are_links() -> None:
    page = read(
        document([
            link(b"/S/URI/URI(http://b.org/x#frag)"), link(b"/S/URI/URI(next.pdf)", b"0 0 10 10"),
            link(b"/S/GoTo/D[3 0 R/Fit]"), link(b"/S/JavaScript/JS(alert)"), link(b"/S/URI"), b"<</Subtype/Text>>",
            b"7",
            link(b"/S/URI/URI<687474703A2F2F622E6F72672F63616665CC81>"), link(b"/S/URI/URI(http://b.org/caf\xe9)"),
        ]),
        PDF,
    )  # fmt: skip
    assert page.text == "Hello PDF"
    assert page.links[0].url == "http://b.org/x" and page.links[0].anchor.startswith("Hello")
    assert [one.url for one in page.links[1:]] == [
        "http://a.org/d/next.pdf", "http://b.org/cafe%CC%81", "http://b.org/caf%C3%A9",
    ]  # fmt: skip
    assert page.links[1].anchor == ""


def test_comments_follow_the_text() -> None:
    body = document([
        b"<</Type/Annot/Subtype/Text/Rect[0 0 9 9]/Contents(Please check)>>",
        b"<</Type/Annot/Subtype/Highlight/Rect[0 0 9 9]/Contents<FEFF65E5672C>>>",
        b"<</Type/Annot/Subtype/Popup/Rect[0 0 9 9]/Contents(again)>>", b"<</Type/Annot/Subtype/Text/Rect[0 0 9 9]>>",
    ])  # fmt: skip
    assert read(body, PDF).text == "Hello PDF Please check 日本"


def test_one_comment_that_is_named_very_often_is_not_kept_very_often() -> None:
    """A PDF of 150 KB would become 800 MB of text, more than its reader may have; its words were lost with it."""
    more = b"6 0 obj<</Subtype/Text/Contents 7 0 R>>endobj\n7 0 obj(" + b"word " * 18_000 + b")endobj\n"
    gathered = pdf.read_pdf(document([b"6 0 R"] * 9_000, more=more))
    assert gathered.text.startswith("Hello PDF") and len(gathered.text) < 2.1 * TEXT_AT_MOST


def test_the_number_of_links_is_bounded() -> None:
    many = [b"6 0 R"] * (LINKS_AT_MOST + 5)
    gathered = pdf.read_pdf(
        document(many, more=b"6 0 obj" + link(b"/S/URI/URI(http://b.org/)", b"0 0 1 1") + b"endobj\n")
    )
    assert len(gathered.links) == LINKS_AT_MOST + 1
    page = read(document([link(b"/S/URI/URI(http://b.org/" + b"a" * 10_000 + b")")]), PDF)
    assert page.links == []


def test_the_words_of_links_take_bounded_time() -> None:
    """20,000 links on a page of 20,000 characters: looking each up would take minutes."""
    many = [b"6 0 R"] * 20_000
    body = document(many, b"word " * 4_000, b"6 0 obj" + link(b"/S/URI/URI(http://b.org/)") + b"endobj\n")
    began = time.process_time()
    gathered = pdf.read_pdf(body)
    assert time.process_time() - began < 4
    assert len(gathered.links) == 20_000 and gathered.links[0][1] and not gathered.links[-1][1]


def test_a_page_that_is_broken_costs_only_itself() -> None:
    broken = document([link(b"/S/URI/URI(http://b.org/)")], more=b"9 0 obj<</Type/Pages/Kids 17>>endobj\n")
    page = read(broken, PDF)
    assert (page.text, page.links) == ("Hello PDF", [Link("http://b.org/", page.links[0].anchor)])
