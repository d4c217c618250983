"""Fetching and reading judged by vectors that others wrote."""

import hashlib
import re
from collections.abc import Iterator
from itertools import product

import pytest

from clearinghouse.addresses import Address
from clearinghouse.addresses.parsing import parse, resolve
from crawler.extract.html.meta_refresh import parse_refresh
from crawler.extract.mime_type import content_type, parse_mime_type
from crawler.values import Credentials, Fetched
from tests import vectors
from tests.fetch.test_fetch import fetch_all, request
from tests.proves import proves
from tests.sites.misbehaving import Asked, Page, Site, page, raw

BODY = b"Fact: this is really forty-two bytes long."


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


def fetch_everything(site: Site) -> dict[str, Fetched]:
    answers = fetch_all(*(request(site.url(path)) for path in site.pages))
    return dict(zip(site.pages, answers, strict=True))


@proves("E7")
def test_mime_types() -> None:
    for file in ("mime-types.json", "generated-mime-types.json"):
        for row in vectors.cases("wpt-mime", file):
            found = parse_mime_type(row["input"])
            assert (str(found) if found else None) == row["output"], row


@proves("D12")
def test_several_content_type_headers() -> None:
    for row in vectors.cases("wpt-mime", "content-types.json"):
        found = content_type(row["contentType"])
        assert (found.essence if found else "text/plain") == row["documentContentType"], row
        assert (str(found) if found else "") == row["mimeType"], row


@proves("E12")
def test_meta_refresh() -> None:
    here = "http://a.org/here"
    for row in vectors.cases("wpt-http", "meta-refresh.json"):
        found = parse_refresh(row["input"])
        expected = row["expected"]
        assert (found is None) == (not expected), row
        if found is not None:
            target = here if expected[1] == "__filename__" else resolve(here, expected[1])
            assert (found[0], resolve(here, found[1])) == (expected[0], target), row


# RFC 9112 allows what this table calls a network error: a reason phrase and a header's value may hold a colon or begin
# with a space (the file of "SP after-num" has the very bytes of "SP before-reason", which the table calls valid). All
# eight say the length of their body, and it is that long: nothing cut is taken for whole.
_LEGAL_HTTP = {
    "SP after-num", "COLON before-reason", "COLON after-reason", "COLON in-name", "COLON before-colon",
    "COLON after-colon", "COLON in-value", "COLON after-value",
}  # fmt: skip


@proves("D11")
def test_malformed_answers_never_crash_or_hang_and_nothing_cut_counts_as_whole(site: Site) -> None:
    rows = [row for row in vectors.cases("wpt-http", "h1-parsing.json") if row["have_file"]]
    folder = vectors.folder("wpt-http") / "h1-parsing"
    for row in rows:
        site.pages["/" + row["file"]] = raw((folder / row["file"]).read_bytes())
    answers = fetch_everything(site)
    for row in rows:
        answer = answers["/" + row["file"]]
        usable = row["fetch"] == "Valid" or f"{row['char']} {row['position']}" in _LEGAL_HTTP
        assert (answer.reason == "") is usable, (row, answer.reason, answer.detail)
        if usable:
            assert (answer.status, answer.body) == (200, b"Test."), row
    assert len(rows) == 102


@proves("D9")
def test_content_lengths(site: Site) -> None:
    rows = vectors.cases("wpt-http", "content-lengths.json")
    for number, row in enumerate(rows):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" + row["input"].encode("latin-1") + b"\r\n\r\n"
        site.pages[f"/{number}"] = raw(head + BODY)
    for row, answer in zip(rows, fetch_everything(site).values(), strict=True):
        assert (None if answer.reason else len(answer.body)) == row["output"], (row, answer.reason)


def test_encoded_bodies(site: Site) -> None:
    folder = vectors.folder("wpt-http") / "content-encoding"
    for file in folder.iterdir():
        if file.suffix in (".gz", ".br"):
            encoding = {".gz": "gzip", ".br": "br"}[file.suffix]
            site.pages["/" + file.name] = page(file.read_bytes(), f"Content-Encoding: {encoding}")
    for path, answer in fetch_everything(site).items():
        assert answer.reason == "", path
        assert answer.body.startswith((b"foofoo", b"Hello world", b"abcdefghij")), path


COMPRESSED = {
    "html-gzip.bin": "gzip", "html-br.bin": "br", "html-rawdeflate.bin": "deflate", "html-zlibdeflate.bin": "deflate",
    "html-gzip-deflate.bin": "gzip, deflate", "html-gzip-deflate-gzip.bin": "gzip, deflate, gzip",
    "html-zstd-static-content-size.bin": "zstd", "html-zstd-static-no-content-size.bin": "zstd",
    "html-zstd-streaming-no-content-size.bin": "zstd", "bomb-zstd.bin": "zstd",
    "bomb-gzip.bin": "gzip", "bomb-br.bin": "br", "bomb-deflate.bin": "deflate", "feed-sample1.xml.gz": "gzip",
    "truncated-crc-error.gz": "gzip", "truncated-crc-error-short.gz": "gzip", "unexpected-eof.gz": "gzip",
}  # fmt: skip


@proves("D7", "D8")
def test_compressed_bodies_of_scrapy(site: Site) -> None:
    folder = vectors.folder("scrapy") / "sample_data" / "compressed"
    for name, encoding in COMPRESSED.items():
        site.pages["/" + name] = page((folder / name).read_bytes(), f"Content-Encoding: {encoding}")
    for path, answer in fetch_everything(site).items():
        if path.endswith(("error.gz", "short.gz", "eof.gz")):
            assert answer.reason == "decode_failed", path
        else:
            assert answer.reason == "", path
            assert answer.truncated == ("bomb" in path)


@proves("G2")
@pytest.mark.parametrize(
    ("algorithm", "qop"),
    [
        *product(["MD5", "SHA-256", "SHA-512-256", ""], ["auth", "auth-int, auth", ""]),
        *product(["MD5-sess", "SHA-256-sess"], ["auth", "auth-int, auth"]),
    ],
)
def test_digest_responses_are_what_a_server_computes(site: Site, algorithm: str, qop: str) -> None:
    """The challenges of RFC 7616 and RFC 2069; the server here computes the response for itself."""
    site.pages["/dir/index.html"] = digest_server(algorithm, qop)
    answer = fetch_all(request(site.url("/dir/index.html"), credentials=Credentials(2, "Mufasa", "Circle of Life")))[0]
    assert (answer.status, answer.body, len(site.log)) == (200, b"let in", 2)


def digest_server(algorithm: str, qop: str) -> Page:
    challenge = 'WWW-Authenticate: Digest realm="a, b", nonce="7ypf/xlj9XXwfDPEoM4URrv", opaque="FQhe"'
    challenge += f', qop="{qop}"' if qop else ""
    challenge += f", algorithm={algorithm}" if algorithm else ""

    def serve(asked: Asked) -> bytes:
        sent = dict(re.findall(r'(\w+)="?([^",]*)', asked.headers.get("authorization", "").replace("a, b", "R")))
        right = sent.get("response") == digest_response(algorithm, sent) if sent else False
        answer = page("let in") if right else page("x" * 100_000, challenge, status="401 Unauthorized")
        return answer(asked)  # type: ignore[return-value]

    return serve


def digest_response(algorithm: str, sent: dict[str, str]) -> str:
    name = {"": "md5", "MD5": "md5", "SHA-256": "sha256", "SHA-512-256": "sha512_256"}[algorithm.removesuffix("-sess")]

    def digest(*parts: str) -> str:
        return hashlib.new(name, ":".join(parts).encode()).hexdigest()

    first = digest("Mufasa", "a, b", "Circle of Life")
    if algorithm.endswith("-sess"):
        first = digest(first, sent["nonce"], sent["cnonce"])
    second = digest("GET", sent["uri"])
    if "qop" not in sent:
        return digest(first, sent["nonce"], second)
    return digest(first, sent["nonce"], sent["nc"], sent["cnonce"], sent["qop"], second)


@proves("D19")
def test_redirects_to_other_schemes_are_no_addresses_of_ours() -> None:
    for row in vectors.table("scrapy", "redirect.json")["schemes"]:
        address = parse(resolve(row["from"], row["location"]))
        assert (address.href if isinstance(address, Address) else None) == row["target"], row
