"""web-platform-tests, folder encoding: decoders, labels, whole pages in old encodings, and the queries of links."""

import base64
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from clearinghouse.addresses import Address
from clearinghouse.addresses.parsing import parse
from crawler.extract.charsets.charset import as_utf8, query_bytes
from crawler.extract.charsets.charset_labels import encoding_of
from tests.suites import Result

NAME = "web-platform-tests: encoding"
FOLDER = "wpt"

MARKS = {b"\xef\xbb\xbf": "utf-8", b"\xfe\xff": "utf-16be", b"\xff\xfe": "utf-16le"}
_SPAN = re.compile(r"<span[^>]*>(.*?)</span>", re.DOTALL)
_ASSERTED = re.compile(r'nodes\[(\d+)\]\.textContent,\s*"([^"]*)"')
_FRAME = re.compile(r'<iframe src="([^"]*)"')
_WHOLE_BODIES = "fatal, streaming, ignoreBOM, no input: of the interface of JavaScript; we decode whole bodies"
_MARKS = "TextDecoder keeps the mark of another encoding; for pages a mark outweighs every label"
_ESCAPE = "a query in ISO-2022-JP ends with the escape to ASCII, as the URL Standard's own table has it"
_UNKNOWN = "with an unknown label XMLHttpRequest takes UTF-8, a page what it says or seems to be"


def run(folder: Path) -> Result:
    result = Result()
    place = folder / "encoding"
    for told in _told(place):
        if "test" in told:
            _script(told, result)
        elif "page" in told:
            _page(place / told["page"], told["expected"], result)
        else:
            _queries(told, result)
    _percent(json.loads((folder / "url" / "resources" / "percent-encoding.json").read_text()), result)
    for file in sorted(place.rglob("*-decode-errors.html")):
        _errors(file, result)
    return result


def node() -> str:
    """Node of this machine, or the one that Playwright brings."""
    import playwright

    ours = Path(playwright.__file__).parent / "driver" / "node"
    return shutil.which("node") or str(ours)


def _told(place: Path) -> Iterator[dict[str, Any]]:
    """What the tests say; their questions are answered on the way."""
    command = [node(), str(Path(__file__).with_suffix(".js")), str(place)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        for line in process.stdout:
            told = json.loads(line)
            if "decode" in told:
                answer = _answer(*told["decode"])
            elif "label" in told:
                answer = encoding_of(told["label"])
            else:
                yield told
                continue
            process.stdin.write(json.dumps(answer) + "\n")
            process.stdin.flush()
    assert process.returncode == 0


def _answer(label: str, body: str) -> str | None:
    """What we make of these bytes; None where another encoding's mark decides for us."""
    data = base64.b64decode(body)
    marked = next((name for mark, name in MARKS.items() if data.startswith(mark)), "")
    return None if marked not in ("", encoding_of(label)) else as_utf8(data, label)[0].decode()


def _script(told: dict[str, Any], result: Result) -> None:
    if told["api"]:
        result.differ(_WHOLE_BODIES)
    elif told["mark"]:
        result.differ(_MARKS)
    elif told["problem"] and told["file"] == "unsupported-encodings.any.js":
        result.differ(_UNKNOWN)
    else:
        result.judge(f"{told['file']} {told['test']}", told["problem"], None)


def _page(file: Path, expected: list[str], result: Result) -> None:
    """Every character of a page in its own element."""
    text = as_utf8(file.read_bytes(), _declared(file))[0].decode()
    for number, (ours, theirs) in enumerate(zip(_SPAN.findall(text), expected, strict=True)):
        result.judge(f"{file.name} element {number}", ours, theirs)


def _errors(file: Path, result: Result) -> None:
    frame = _FRAME.search(file.read_text())
    assert frame is not None
    shown = file.parent / frame[1]
    spans = _SPAN.findall(as_utf8(shown.read_bytes(), _declared(shown))[0].decode())
    for number, theirs in _ASSERTED.findall(file.read_text()):
        result.judge(f"{shown.name} element {number}", spans[int(number)], theirs)


def _declared(file: Path) -> str:
    """The charset that the server of the tests names."""
    headers = file.with_name(file.name + ".headers")
    found = re.search(r"charset=([\w-]+)", headers.read_text()) if headers.exists() else None
    return found[1] if found else ""


def _queries(told: dict[str, Any], result: Result) -> None:
    name = encoding_of(told["charset"])
    for code, theirs in told["cases"]:
        ours = query_bytes(f"http://a.org/?{chr(code)}", name).partition("?")[2]
        sent, wanted = unquote_to_bytes(ours), unquote_to_bytes(theirs)
        if sent == wanted + b"\x1b(B" and name == "iso-2022-jp":
            result.differ(_ESCAPE)
        else:
            result.judge(f"{told['href']} U+{code:04X}", sent, wanted)


def _percent(cases: list[Any], result: Result) -> None:
    """The table of the URL Standard: a query in several charsets."""
    for case in cases:
        for label, theirs in case.get("output", {}).items() if isinstance(case, dict) else ():
            ours = query_bytes(f"http://a.org/?{case['input']}", encoding_of(label)).partition("?")[2]
            address = parse(f"http://a.org/?{ours}")
            assert isinstance(address, Address)
            name = f"percent-encoding.json {case['input']!r} in {label}"
            result.judge(name, address.href.partition("?")[2], theirs)
