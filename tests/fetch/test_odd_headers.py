"""Headers that a database would refuse, or that are no text: nothing stored holds them, by either transport."""

import pytest

from crawler.fetch import curl, requests_fetcher
from crawler.values import Credentials
from tests.hostile.fetching import fetch_all, request
from tests.proves import proves
from tests.sites.misbehaving import Site, raw

NTLM = Credentials(3, "u", "p")
HEADS = [
    b'HTTP/1.1 200 OK\r\nETag: "a\0b"\r\nContent-Type: text/html; charset="\0x"\r\n',
    b"HTTP/1.1 200 OK\r\nLast-Modified: \xff\xfe\0\xed\xa0\x80\r\nContent-Type: text/html\r\n",
    b"HTTP/1.1 302 Found\r\nLocation: http://[a\0\xed\xa0\x80b\r\n",
    b"HTTP/1.1 401 No\r\nWWW-Authenticate: Foo \0x\xed\xa0\x80\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: image/\0png\r\n",
]


@proves("E4")
@pytest.mark.parametrize("transport", ["libcurl", "requests"])
@pytest.mark.parametrize("head", HEADS, ids=["etag", "date", "location", "challenge", "type"])
def test_no_header_holds_what_a_database_refuses(head: bytes, transport: str) -> None:
    fetcher, key = (
        (curl.CurlTransport(), None) if transport == "libcurl" else (requests_fetcher.RequestsTransport(), NTLM)
    )
    with Site() as site:
        site.pages["/"] = raw(head + b"Content-Length: 1\r\n\r\nx")
        (answer,) = fetch_all(fetcher, [request(site.url("/"), key)])
    for text in (answer.detail, *(part for pair in answer.headers for part in pair)):
        assert "\0" not in text
        text.encode()  # no half of a pair either
