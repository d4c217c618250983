"""What the tests of Tika and POI, written in Java, say of the words of a document: read from their source.

A method that names one document and says which literal texts are in it, or are not, makes one case of each text. Words
are compared, not the markup and white space between them.
"""

import html
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from crawler.extract.gathered import Gathered
from crawler.extract.office import office_documents, pdf, rtf
from tests.suites import Result

_LITERAL = r'"(?:[^"\\\n]|\\.)*"'
_LITERALS = rf"((?:{_LITERAL}\s*\+?\s*)+)"
_DOCUMENT = re.compile(r'"(?:[\w./ -]*/)?([\w. -]+\.(?:rtf|docx|docm|dotx|xlsx|xlsm|pptx|pptm|ppsx|odt|ods|odp|pdf))"')
_SAID = re.compile(
    rf"assert(NotContained|Contains)\(\s*(?:{_LITERALS},\s*([\w.()]+)|([\w.()]+)\s*,\s*{_LITERALS})\s*\)"
)
_INLINE = re.compile(r"</?(?:b|i|u|s|strike|em|strong|sub|sup)>")
_ESCAPE = re.compile(r"\\(u+[0-9a-fA-F]{4}|.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_WORD = re.compile(r"\w+")


class Said(NamedTuple):
    document: str
    text: str
    holds: bool


def judge(folder: Path, by_design: dict[str, str], result: Result) -> None:
    """Every case of the tests under `folder`. `by_design`: document, or "document: text", -> why we differ.

    What a reason allows is the beginning of a case only: "list.docx: 1." explains all numbers that begin so.
    """
    documents = {path.name: path for path in folder.rglob("*.*") if path.suffix != ".java"}
    read: dict[str, str] = {}
    for said in _all_said(folder):
        if said.document not in documents:
            continue
        if said.document not in read:
            read[said.document] = _words(_read(documents[said.document]))
        holds = _words(said.text) in read[said.document]
        case = f"{said.document}: {said.text[:60]}"
        reason = next((why for beginning, why in by_design.items() if case.startswith(beginning)), "")
        if holds != said.holds and reason:
            result.differ(reason)
        else:
            result.judge(case, holds, said.holds)


def _all_said(folder: Path) -> Iterator[Said]:
    for path in sorted(folder.rglob("*Test*.java")):
        for method in path.read_text(errors="replace").split("@Test")[1:]:
            documents = {found[1] for found in _DOCUMENT.finditer(method)}
            if len(documents) == 1:
                (document,) = documents
                yield from _said(document, method)


def _said(document: str, method: str) -> Iterator[Said]:
    for found in _SAID.finditer(method):
        holder = (found[3] or found[4] or "").lower()
        text = "".join(_unescaped(one[1:-1]) for one in re.findall(_LITERAL, found[2] or found[5]))
        bare = html.unescape(re.sub(r"<[^>]*>?", " ", _INLINE.sub("", text))).replace("\xad", "")
        # What must not be there with markup may be there without.
        if _WORD.search(bare) and "meta" not in holder and (found[1] == "Contains" or bare == text):
            yield Said(document, bare.strip(), found[1] == "Contains")


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_character, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _character(escape: re.Match[str]) -> str:
    code = escape[1]
    return chr(int(code.lstrip("u"), 16)) if len(code) > 1 else _ESCAPES.get(code, code)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text))


def _read(path: Path) -> str:
    data = path.read_bytes()
    try:
        if path.suffix == ".rtf":
            found = rtf.read_rtf(data)
        else:
            found = pdf.read_pdf(data) if path.suffix == ".pdf" else office_documents.read_zip(data)
    except (ValueError, RuntimeError, OSError, zipfile.BadZipFile):
        found = Gathered()
    return f"{found.title} {found.text}"
