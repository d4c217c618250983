"""The corpus of chardet: texts of people, each in a folder named after its encoding; what they declare is taken out.

An answer is right when the text reads the same by it, whatever its name.
"""

import re
from pathlib import Path

from crawler.extract.charsets.charset import as_utf8, detect
from crawler.extract.charsets.charset_labels import encoding_of
from tests.suites import Result

NAME = "chardet: corpus, undeclared"
FOLDER = "chardet"

_DECLARED = re.compile(rb"(charset|encoding)(?==)", re.IGNORECASE)
_NAMES = {"CP932": "shift_jis", "CP949": "euc-kr", "MacRoman": "macintosh", "MacCyrillic": "x-mac-cyrillic"}
_UNKNOWN = {"IBM855", "EUC-TW", "Johab", "UTF-32", "UTF-32BE", "UTF-32LE", "iso-2022-kr"}
_UNGUESSED = {"MacRoman", "MacCyrillic"}
_NO_ENCODING = "IBM855, EUC-TW, Johab, UTF-32, ISO-2022-KR: no encodings of the standard, so no browser reads them"
_NO_GUESS = "Macintosh encodings are read where they are declared and never guessed, as in Firefox"
_WRONG = "Western and Central European are taken for each other where the text has few telling letters"


def run(folder: Path) -> Result:
    result = Result()
    for place in sorted((folder / "tests").iterdir()):
        for file in sorted(place.iterdir()) if place.is_dir() else ():
            if place.name in _UNKNOWN:
                result.differ(_NO_ENCODING)
            elif place.name in _UNGUESSED:
                result.differ(_NO_GUESS)
            else:
                _judge(place.name, file, result)
    return result


def _judge(folder: str, file: Path, result: Result) -> None:
    body = _DECLARED.sub(rb"x\1", file.read_bytes())
    parts = folder.split("-")
    name = _NAMES.get(folder) or encoding_of(folder) or encoding_of("-".join(parts[:-1]))
    theirs = as_utf8(body, name)[0] if name else body  # what is called ascii or utf-8-sig
    if as_utf8(body)[0] == theirs:
        result.judge(file.name, True, True)
    elif {detect(body), name} <= {"windows-1250", "windows-1252", "iso-8859-2"}:
        result.differ(_WRONG)
    else:
        result.judge(f"{folder}/{file.name}", detect(body), name)
