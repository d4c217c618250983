"""PDF: its text, page by page. Runs in the bounded child (see worker)."""

from .text import TEXT_AT_MOST

_PAGES_AT_MOST = 5_000


def read_pdf(data: bytes) -> tuple[str, str]:
    """Title and text of a PDF."""
    import pypdfium2  # loaded by the child only: the crawler itself never runs PDF code

    document = pypdfium2.PdfDocument(data)
    try:
        pieces: list[str] = []
        size = 0
        for number in range(min(len(document), _PAGES_AT_MOST)):
            page = document[number]
            text = page.get_textpage().get_text_bounded()
            page.close()
            pieces.append(text)
            size += len(text)
            if size > TEXT_AT_MOST:
                break
        return str(document.get_metadata_dict().get("Title", "")), "\n".join(pieces)
    finally:
        document.close()
