"""Where answers end, as llhttp (of Node.js) parses them: its messages, served over a socket to both our transports."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from clearinghouse.addresses import networks
from crawler.fetch import curl, requests_fetcher
from crawler.values import Credentials, Fetched
from tests.hostile.fetching import fetch_all, request
from tests.sites.misbehaving import Site, raw
from tests.suites import Result

NAME = "llhttp, responses"
FOLDER = "llhttp"

_DIFFERENT = {
    r"on chunked body|[Ee]xtension": "blanks, and anything behind a ;, may follow the length of a chunk",
    r"Upgrade and": "101 is refused: nobody asked for another protocol",
    r"100 first, then|starting with CRLF": "an empty line before the status line is no HTTP",
    r"Only LFs|No carriage ret": "lines may end with a line feed alone, as RFC 9112 (2.2) allows and browsers do",
    r"RTSP|ICE|0\.9": "only HTTP/1.0 and 1.1 (and 2) are spoken",
    r"Google 301": "the status of a redirect counts although its body is cut",
    r"[Tt]ransfer-[Ee]ncoding": "an unknown Transfer-Encoding is refused: nobody can say where the body ends",
}
_MESSAGE = re.compile(r'meta=\{"type": "([\w-]+)"([^}]*)\} -->\n```http\n(.*?)```.*?```log\n(.*?)```', re.DOTALL)
_FRAMED = 0x28  # its flags of a body with a length, or in chunks


def run(folder: Path) -> Result:
    os.environ.setdefault("CLEARINGHOUSE_ALLOWED_NETWORKS", "127.0.0.0/8")
    os.environ.setdefault("CLEARINGHOUSE_ALLOWED_PORTS", "1024-65535")
    networks.forget_settings()
    result = Result()
    with Site() as site:
        for file in sorted((folder / "test/response").glob("*.md")):
            for name, data, log in _cases(file.read_text()):
                site.pages["/"] = raw(data)
                for way, fetcher, key in _ways():
                    (answer,) = fetch_all(fetcher, [request(site.url("/"), key)])
                    _judge(result, f"{file.stem}, {name}, {way}", answer, _theirs(log, data))
    return result


def _ways() -> Iterator[tuple[str, "curl.Fetcher | requests_fetcher.Fetcher", Credentials | None]]:
    yield "libcurl", curl.CurlTransport(), None
    yield "requests", requests_fetcher.RequestsTransport(), Credentials(3, "u", "p")


def _cases(text: str) -> Iterator[tuple[str, bytes, str]]:
    for part in re.split(r"(?m)^(?=##)", text):
        title = part.partition("\n")[0].strip("# ")
        for kind, options, written, log in _MESSAGE.findall(part):
            if kind == "response" and "skipBody" not in options:  # lenient ones are other parsers
                yield title, _data(written), log


def _data(written: str) -> bytes:
    """As llhttp's own test program reads a message."""
    text = re.sub(r"\\(\r\n|\r|\n)", "", written.removesuffix("\n"))
    text = re.sub(r"\r\n|\r|\n", "\r\n", text)
    text = text.replace("\\r", "\r").replace("\\n", "\n").replace("\\t", "\t").replace("\\f", "\f")
    return re.sub(r"\\x([0-9a-fA-F]+)", lambda found: chr(int(found[1], 16)), text).encode("latin-1", "replace")


def _theirs(log: str, data: bytes) -> tuple[int, bytes | str]:
    """The status and the body of the first message that is no interim one; "error" where it is refused, or where the
    message stops before its end: a parser waits for more, a crawler has lost its connection."""
    status, body, framed = 0, b"", True
    for line in log.splitlines():
        if found := re.match(r"off=\d+ headers complete.* status=(\d+) .*flags=([0-9a-f]+)", line):
            status, framed = int(found[1]), bool(int(found[2], 16) & _FRAMED)
        elif found := re.match(r"off=(\d+) len=(\d+) span\[body\]", line):
            body += data[int(found[1]) : int(found[1]) + int(found[2])]
        elif "error code" in line:
            return status, "error"
        elif "message complete" in line and (status >= 200 or status == 101):
            return status, body
    return status, "error" if framed else body


def _judge(result: Result, case: str, answer: Fetched, theirs: tuple[int, bytes | str]) -> None:
    status, body = theirs
    ours: object = answer.status, answer.reason or answer.body
    if body == "error":
        ours, wanted = "error" if answer.reason else ours, body
    elif status >= 300:
        ours, wanted = answer.status, status
    else:
        wanted = theirs
    why = next((reason for title, reason in _DIFFERENT.items() if re.search(title, case)), "")
    if ours != wanted and why:
        result.differ(why)
    else:
        result.judge(case, ours, wanted)
