"""Apache POI's test documents, with what its own tests say of their words."""

from pathlib import Path

from tests.suites import Result
from tests.suites._java_tests import judge

NAME = "Apache POI: Word, Excel, PowerPoint"
FOLDER = "poi"
_PROPERTIES = "of the properties of a document only the title is kept"
_SWITCHED = "the test switches the part off that a reader sees"
_OTHER = "the test means another document, or cells as formulas"
_BY_DESIGN = {
    "ExcelWithAttachments.xlsm": _PROPERTIES, "49386-null_dates.pptx": _PROPERTIES, "rain.pptx": _PROPERTIES,
    "45544.xlsx": _SWITCHED, "57914.xlsx": _OTHER, "InlineStrings.xlsx": _OTHER,
    "45545_Comment.pptx": "names of authors are no text",
    "51519.xlsx": "how Japanese is pronounced is no part of a string",
    "delins.docx": "deleted and moved changes are no text",
    "endnotes.docx": "numbers of lists, notes and pages are no words of the text",
    "footnotes.docx": "numbers of lists, notes and pages are no words of the text",
    "60316b.dotx": "the text around a field that follows without a space is one word",
}  # fmt: skip


def run(folder: Path) -> Result:
    result = Result()
    judge(folder, _BY_DESIGN, result)
    return result
