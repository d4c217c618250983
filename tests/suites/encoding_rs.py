"""The tests of encoding_rs: its tables line by line, and the cases in its sources."""

import re
from pathlib import Path

from crawler.extract.charsets.charset import as_utf8, encode
from crawler.extract.charsets.charset_labels import encoding_of
from tests.suites import Result

NAME = "encoding_rs: tables and cases"
FOLDER = "encoding_rs"

_TABLES = {"jis0208": "euc-jp", "jis0212": "euc-jp"}
_CASE = re.compile(r'^\s*(decode|encode)_(\w+)\(\s*(b?)"((?:[^"\\]|\\.)*)",\s*(&?b?)"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|u\{([0-9A-Fa-f]+)\}|(.))", re.DOTALL)
_MARKED = "a byte order mark outweighs the label (decode); their cases decode without looking for one"
_MARKS = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")


def run(folder: Path) -> Result:
    result = Result()
    for file in sorted((folder / "tests" / "test_data").glob("*_in.txt")):
        name = _named(file.name.removesuffix("_in.txt"))
        _lines(file, as_utf8(file.read_bytes(), name)[0], result)
    for file in sorted((folder / "tests" / "test_data").glob("*_out.txt")):
        name = _named(file.name.removesuffix("_out.txt"))
        _lines(file, encode(file.read_bytes().decode(), name), result)
    for file in sorted((folder / "src").glob("*.rs")):
        for way, encoding, _, given, _, wanted in _CASE.findall(file.read_text()):
            name = _named(encoding)
            if name:
                _case(f"{file.name} {way} {given}", way, name, _literal(given), _literal(wanted), result)
    return result


def _named(name: str) -> str:
    return _TABLES.get(name) or encoding_of(name.replace("_", "-")) or encoding_of(name)


def _lines(file: Path, ours: bytes, result: Result) -> None:
    wanted = file.with_name(file.name.replace(".txt", "_ref.txt")).read_bytes().splitlines()
    for number, (line, theirs) in enumerate(zip(ours.splitlines(), wanted, strict=True), start=1):
        result.judge(f"{file.name}:{number}", line, theirs)


def _case(title: str, way: str, name: str, given: bytes, wanted: bytes, result: Result) -> None:
    if way == "encode":
        result.judge(title, encode(given.decode(), name), wanted)
    elif given.startswith(_MARKS):
        result.differ(_MARKED)
    else:
        result.judge(title, as_utf8(given, name)[0], wanted)


def _literal(text: str) -> bytes:
    """The bytes of a literal of Rust."""
    return _ESCAPE.sub(_unescaped, text.encode())


def _unescaped(found: re.Match[bytes]) -> bytes:
    if found[1]:
        return bytes([int(found[1], 16)])
    if found[2]:
        return chr(int(found[2], 16)).encode()
    return {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"0": b"\0"}.get(found[3], found[3])
