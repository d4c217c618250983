"""Answers that curl's own tests serve, served to both our transports: who is whole for curl is whole for us.

Taken are the tests that fetch one address of a plain HTTP server with no option at all: then what curl makes of the
answer is the answer's doing.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from clearinghouse.addresses import networks
from crawler.fetch import curl, requests_fetcher
from crawler.values import Credentials, Fetched
from tests.hostile.fetching import fetch_all, request
from tests.sites.misbehaving import Site, raw
from tests.suites import Result

NAME = "curl, answers"
FOLDER = "curl"

_PLAIN = re.compile(r"^\s*http://%HOSTIP:%HTTPPORT/\S*\s*$")
_ELSEWHERE = re.compile(r"<(?:servercmd|connect|precheck|postcheck|setenv|tool)\b")
_DIFFERENT = {
    "type_not_allowed": "types without text are not stored",
    "206": "a part of a page is no page",
    "304": "an unchanged page nobody asked about is no answer",
    "Location": "a redirect to nowhere is no redirect",
    "101": "101 is refused: nobody asked for another protocol",
    "Transfer-Encoding": "an unknown Transfer-Encoding is refused: nobody can say where the body ends",
}
_BY_NAME = {
    "test178": "a Content-Length that is no number means none, as in browsers",
    "test394": "a Content-Length that is no number means none, as in browsers",
    "test395": "a body that is shorter than any length is cut short",
    "test770": "6 and 06 are two lengths, as the Fetch standard has it",
    "test772": "a page has no Location",
    "test1473": "a blank before the first header is no HTTP",
}


class _Case(NamedTuple):
    name: str
    data: bytes
    fails: bool  # for curl
    body: bytes | None  # where it is plain to see


def run(folder: Path) -> Result:
    os.environ.setdefault("CLEARINGHOUSE_ALLOWED_NETWORKS", "127.0.0.0/8")
    os.environ.setdefault("CLEARINGHOUSE_ALLOWED_PORTS", "1024-65535")
    networks.forget_settings()
    result = Result()
    with Site() as site:
        for case in _cases(folder / "tests/data"):
            site.pages["/"] = raw(case.data)
            for way, fetcher, key in (
                ("libcurl", curl.CurlTransport(), None),
                ("requests", requests_fetcher.RequestsTransport(), Credentials(3, "u", "p")),
            ):
                (answer,) = fetch_all(fetcher, [request(site.url("/"), key)])
                _judge(result, f"{case.name}, {way}", case, answer)
    return result


def _judge(result: Result, name: str, case: _Case, answer: Fetched) -> None:
    told = f"{answer.reason} {answer.detail}"
    why = next((reason for word, reason in _DIFFERENT.items() if word in told), "") if answer.reason else ""
    if answer.status >= 300 and case.fails and not answer.reason:
        why = "the status of a redirect or an error counts although its body is cut"
    why = why or _BY_NAME.get(case.name, "")
    failed = bool(answer.reason)
    if failed == case.fails and (failed or answer.status >= 300 or case.body in (None, answer.body)):
        result.judge(name, True, True)
    elif why:
        result.differ(why)
    else:
        result.judge(name, told if failed else answer.body, "an error" if case.fails else case.body)


def _cases(folder: Path) -> Iterator[_Case]:
    for file in sorted(folder.glob("test*[0-9]"), key=lambda file: int(file.name[4:])):
        text = file.read_text("latin-1")
        command, servers = _part(text, "command"), _part(text, "server").split()
        if servers != ["http"] or not _PLAIN.match(command) or _ELSEWHERE.search(text):
            continue
        found = re.search(r"<data\b([^>]*)>\n(.*?)</data>", text, re.DOTALL)
        data = _filled_in(found[2].replace("%TESTNUMBER", file.name[4:])) if found else ""
        if found is None or re.search(r"%[A-Za-z]+", data) or "base64" in found[1] or "hex" in found[1]:
            continue
        data = _with_ends(data, found[1]).removesuffix("\n" if "nonewline" in found[1] else "")
        code = _part(text, "errorcode").strip()
        yield _Case(file.name, data.encode("latin-1"), code not in ("", "0"), _body(data.encode("latin-1")))


def _part(text: str, name: str) -> str:
    found = re.search(rf"<{name}\b[^>]*>(.*?)</{name}>", text, re.DOTALL)
    return found[1] if found else ""


def _filled_in(data: str) -> str:
    data = re.sub(r"%repeat\[(\d+) x (.*?)\]%", lambda found: int(found[1]) * _bytes(found[2]), data, flags=re.DOTALL)
    data = re.sub(r"%hex\[(.*?)\]hex%", lambda found: _bytes(found[1]), data, flags=re.DOTALL)
    for word, meaning in (("%CR", "\r"), ("%LF", "\n"), ("%TAB", "\t"), ("%SP", " "), ("%HOSTIP", "127.0.0.1")):
        data = data.replace(word, meaning)
    return data


def _bytes(text: str) -> str:
    return re.sub(r"%([0-9a-fA-F]{2})", lambda found: chr(int(found[1], 16)), text)


def _with_ends(data: str, attributes: str) -> str:
    """crlf="yes": every line ends as HTTP wants it; crlf="headers": those of the head."""
    if 'crlf="yes"' in attributes:
        return re.sub(r"\r?\n", "\r\n", data)
    if 'crlf="headers"' not in attributes:
        return data
    lines, heading = [], True
    for line in data.splitlines(keepends=True):
        heading = heading or line.startswith("HTTP/")
        lines.append(re.sub(r"\r?\n$", "\r\n", line) if heading else line)
        heading = heading and line.strip() != ""
    return "".join(lines)


def _body(data: bytes) -> bytes | None:
    """What stands behind the head; None where it is packed, in pieces, or behind more than one head."""
    head, _, body = data.partition(b"\r\n\r\n")
    fields = head.lower()
    if head == data or body.startswith(b"HTTP/") or b"\ntransfer-encoding" in fields or b"\ncontent-encoding" in fields:
        return None
    length = re.search(rb"\ncontent-length:\s*(\d+)\s*(?:\r|$)", fields)
    return body[: int(length[1])] if length else body
