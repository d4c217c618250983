"""PDF: its text, page by page, with comments and the links of annotations. Runs in the bounded child (see worker)."""

import ctypes
from contextlib import suppress
from typing import Any

from ..gathered import ADDRESS_AT_MOST, Enough, Gathered
from ..packed_links import LINKS_AT_MOST

_PAGES_AT_MOST = 5_000
_COMMENTS_AT_MOST, _COMMENT_AT_MOST = 10_000, 200_000  # of a document; bytes of one
_WIDE = ctypes.POINTER(ctypes.c_ushort)
_SEARCHED_AT_MOST = 50_000_000  # characters: each link's words are looked for among all those of its page


def read_pdf(data: bytes) -> Gathered:
    """Title, text and links of a PDF. A page that is broken is passed over."""
    import pypdfium2  # loaded by the child only: the crawler itself never runs PDF code

    document = pypdfium2.PdfDocument(data)
    try:
        gathered, to_search = Gathered(str(document.get_metadata_dict().get("Title", ""))), _SEARCHED_AT_MOST
        with suppress(Enough):
            for number in range(min(len(document), _PAGES_AT_MOST)):
                try:
                    page = document[number]
                    texts = page.get_textpage()
                except pypdfium2.PdfiumError:
                    continue
                gathered.add(texts.get_text_bounded() + "\n")
                _read_comments(page, gathered)
                to_search = _read_links(document, page, texts, gathered, to_search)
                page.close()
        return gathered
    finally:
        document.close()


def _read_links(document: Any, page: Any, texts: Any, gathered: Gathered, to_search: int) -> int:
    """The links of a page; how many characters may still be searched for the words of links."""
    import pypdfium2.raw as pdfium

    characters = int(texts.count_chars())
    position, link = ctypes.c_int(0), pdfium.FPDF_LINK()
    while len(gathered.links) <= LINKS_AT_MOST and pdfium.FPDFLink_Enumerate(page, position, link):
        action = pdfium.FPDFLink_GetAction(link)
        if action and pdfium.FPDFAction_GetType(action) == pdfium.PDFACTION_URI:
            address = _address(document, action)
            to_search -= characters + 1
            gathered.link(address, _anchor(link, texts) if address and to_search > 0 else "")
    return to_search


def _read_comments(page: Any, gathered: Gathered) -> None:
    """What people wrote beside and on a page. (Fields of forms and windows of comments say nothing of their own.)"""
    import pypdfium2.raw as pdfium

    silent = {pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP, pdfium.FPDF_ANNOT_WIDGET}
    for number in range(min(pdfium.FPDFPage_GetAnnotCount(page), _COMMENTS_AT_MOST - len(gathered.beside))):
        annotation = pdfium.FPDFPage_GetAnnot(page, number)
        if not annotation:
            continue
        size = pdfium.FPDFAnnot_GetStringValue(annotation, b"Contents", None, 0)
        if 2 < size <= _COMMENT_AT_MOST and pdfium.FPDFAnnot_GetSubtype(annotation) not in silent:
            buffer = ctypes.create_string_buffer(size)
            pdfium.FPDFAnnot_GetStringValue(annotation, b"Contents", ctypes.cast(buffer, _WIDE), size)
            gathered.add(buffer.raw[: size - 2].decode("utf-16-le", "replace") + "\n", beside=True)
        pdfium.FPDFPage_CloseAnnot(annotation)


def _address(document: Any, action: Any) -> str:
    import pypdfium2.raw as pdfium

    size = pdfium.FPDFAction_GetURIPath(document, action, None, 0)
    if not 1 < size <= ADDRESS_AT_MOST:
        return ""
    buffer = ctypes.create_string_buffer(size)
    pdfium.FPDFAction_GetURIPath(document, action, buffer, size)
    try:
        return buffer.value.decode()
    except UnicodeDecodeError:
        return buffer.value.decode("latin-1")


def _anchor(link: Any, texts: Any) -> str:
    """The words a link lies on."""
    import pypdfium2.raw as pdfium

    place = pdfium.FS_RECTF()
    if not pdfium.FPDFLink_GetAnnotRect(link, place):
        return ""
    return str(texts.get_text_bounded(place.left, place.bottom, place.right, place.top))
