"""Documents lead on like pages: what PDF, Word and RTF files link to is crawled."""

from collections.abc import Callable

import pytest

from crawler.models import PageVersion, Run
from tests.crawler.conftest import crawl, make_document
from tests.extract.documents import DOCX
from tests.packages import word
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]

PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]
/A<</S/URI/URI(from-pdf.docx)>>>>]>>endobj
trailer<</Root 1 0 R>>
"""


def test_what_documents_link_to_is_crawled(ledger: Ledger) -> None:
    letter = word(
        '<w:p><w:hyperlink r:id="h"><w:r><w:t>the letter</w:t></w:r></w:hyperlink></w:p>',
        [("h", "hyperlink", "http:from-docx.rtf")],
    )
    rtf = rb'{\rtf1 {\field{\*\fldinst HYPERLINK "from-rtf.html"}{\fldrslt on}}}'
    pages = {
        "/m/": Page(["/m/a.pdf"]),
        "/m/a.pdf": Page(body=PDF, type="application/pdf"),
        "/m/from-pdf.docx": Page(body=letter, type=DOCX),
        "/m/from-docx.rtf": Page(body=rtf, type="application/rtf"),
        "/m/from-rtf.html": Page(),
    }
    with serve(pages) as site:
        run = crawl(make_document({"url": site.url("/m/")}))
    assert ledger(run) == dict.fromkeys(pages, "crawled")
    assert PageVersion.objects.get(url__endswith="from-pdf.docx").text == "the letter"
