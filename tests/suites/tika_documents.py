"""Apache Tika's test documents, with what its own tests say of their words."""

from pathlib import Path

from tests.suites import Result
from tests.suites._java_tests import judge

NAME = "Apache Tika: RTF, Office, OpenDocument, PDF"
FOLDER = "tika"
_NUMBERS = "numbers of lists, notes and pages are no words of the text"
_OUTSIDE = "what is only named (pictures, templates, files to include) is neither text nor followed"
_SWITCHED = "the test switches the part off that a reader sees"
_INSIDE = "files inside a document, macros and scripts are not read"
_SEEN = "numbers are kept as they are stored, dates as 2007-05-17: not in the format of the cell"
_FORMS = "values of PDF forms (AcroForm, XFA) are not read"
_PICTURES = "text in pictures is not read"
_ALTERNATIVE = "alternative texts of shapes are no text"
_PEOPLE = "names of authors are no text"
_LAYOUT = "PDFium orders or parts the words of the page otherwise"
_BY_DESIGN = {
    "testWORD_numbered_list.docx": _NUMBERS, "testWORD_override_list_numbering.docx": _NUMBERS,
    "testWORD_2006ml.docx: 2. Really": _NUMBERS, "testPPT_various2.pptx: 8": _NUMBERS,
    "testExternalRefs.docx": _OUTSIDE, "testAttachedTemplate.docx": _OUTSIDE,
    "testHoverAndVml.docx": "links are kept as links, not in the text; those of a pointer that hovers are not followed",
    "testSubdocument.docx": "links are kept as links, not in the text",
    "testPPT_groups.pptx": "links are kept as links, not in the text",
    "testPDFVarious.pdf: http": "links are kept as links, not in the text",
    "testODTEmbeddedImageLink.odt": _ALTERNATIVE, "testODFwithOOo3.odt": _ALTERNATIVE,
    "testWORD_embedded_pics.docx": _ALTERNATIVE,
    "testEXCEL_headers_footers.xlsx": _SWITCHED, "testEXCEL_textbox.xlsx": _SWITCHED,
    "testWORD_text_box.docx": _SWITCHED, "testWORD_various.docx": _SWITCHED, "testWORD_phonetic.docx": _SWITCHED,
    "testPPT_masterFooter.pptx": _SWITCHED,
    "testODPMacro.odp": _INSIDE, "testODSMacro.ods": _INSIDE, "testODTMacro.odt": _INSIDE,
    "testPDFEmbeddingAndEmbedded.docx": _INSIDE, "testPDFFileEmbInAnnotation": _INSIDE, "testPDFPackage.pdf": _INSIDE,
    "testPPT_oleWorkbook.pptx": _INSIDE,
    "testEXCEL-formats.xlsx": _SEEN,
    "testEXCEL_charts.xlsx": "words of a chart that stand in the sheet are not repeated",
    "testPDF_acroform3.pdf": _FORMS, "testPDF_XFA_govdocs1_258578.pdf": _FORMS,
    "testOCR.pdf": _PICTURES, "testPDF_JBIG2.pdf": _PICTURES, "testPDF_jpeg2000.pdf": _PICTURES,
    "testPDF_bookmarks.pdf: OCR": _PICTURES,
    "testWORD_features.docx: Kyle": _PEOPLE, "testPPT_comment.pptx": _PEOPLE, "testPPT_various2.pptx: Timothy": _PEOPLE,
    "testPDF_twoAuthors.pdf": _PEOPLE, "testPopupAnnotation.pdf: igalsh": _PEOPLE,
    "testPPT_various2.pptx: Handout": "pages to hand out are no slides",
    "testPPT_various2.pptx: TextBoxInHandOut": "pages to hand out are no slides",
    "testWORD_2006ml.docx: frog": "deleted changes are no text",
    "testWORD_2006ml.docx: Click": "what only waits to be filled in is no text",
    "testODTStyles3.odt": "text boxes and comments follow the text they stand beside",
    "testExtraSpaces.pdf": _LAYOUT, "testOverlappingText.pdf": _LAYOUT, "testPDFTwoTextBoxes.pdf": _LAYOUT,
    "testPDFVarious.pdf: Footnote": _LAYOUT,
    "protectedFile.xlsx": "documents with a password are not read",
}  # fmt: skip


def run(folder: Path) -> Result:
    result = Result()
    judge(folder, _BY_DESIGN, result)
    return result
