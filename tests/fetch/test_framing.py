"""Where an answer ends and what counts of it (RFC 9110, 9112), the same by libcurl and by the transport of sign-ins."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from crawler.engine.response_kind import FAILURE, RETRY, judge
from crawler.fetch import curl, requests_fetcher
from crawler.values import Credentials, Fetched
from tests.hostile.fetching import request
from tests.sites.misbehaving import Answer, Asked, Site, page, raw

NTLM = Credentials(3, "u", "p")
GOOD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\nfine"
CHUNKS = b"Content-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


@pytest.fixture(params=["libcurl", "requests"])
def get(request: pytest.FixtureRequest) -> Callable[..., list[Fetched]]:
    return by_libcurl if request.param == "libcurl" else by_requests


def by_libcurl(*urls: str, **options: object) -> list[Fetched]:
    return one_after_another(curl.CurlTransport(), urls, None, options)


def by_requests(*urls: str, **options: object) -> list[Fetched]:
    return one_after_another(requests_fetcher.RequestsTransport(), urls, NTLM, options)


def one_after_another(
    fetcher: curl.CurlTransport | requests_fetcher.RequestsTransport,
    urls: tuple[str, ...],
    key: Credentials | None,
    options: dict[str, object],
) -> list[Fetched]:
    answers: list[Fetched] = []
    for url in urls:
        fetcher.start(replace(request(url, key), **options))  # type: ignore[arg-type]
        while fetcher.active():
            answers += fetcher.wait(1)
    fetcher.close()
    return answers


WHOLE = {
    "100 before": b"HTTP/1.1 100 Continue\r\n\r\n" + GOOD,
    "102 before": b"HTTP/1.1 102 Processing\r\n\r\n" + GOOD,
    "103 before": b"HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\nContent-Length: 99\r\n\r\n" + GOOD,
    "many before": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"
    + GOOD,
    "chunks": b"HTTP/1.1 200 OK\r\n" + CHUNKS + b"2\r\nfi\r\n2\r\nne\r\n0\r\n\r\n",
    "extensions": b"HTTP/1.1 200 OK\r\n" + CHUNKS + b'4;a=b;c="d e"\r\nfine\r\n0;end\r\n\r\n',
    "trailers": b"HTTP/1.1 200 OK\r\nTrailer: X\r\n" + CHUNKS + b"4\r\nfine\r\n0\r\nX: y\r\nContent-Length: 1\r\n\r\n",
    "zeros and capitals": b"HTTP/1.1 200 OK\r\n" + CHUNKS + b"0004\r\nfine\r\n000\r\n\r\n",
    "chunked in capitals": b"HTTP/1.1 200 OK\r\n" + CHUNKS.replace(b"chunked", b"CHUNKED") + b"4\r\nfine\r\n0\r\n\r\n",
    "a length beside chunks": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n" + CHUNKS + b"4\r\nfine\r\n0\r\n\r\n",
    "a length said twice": GOOD.replace(b"Content-Length: 4", b"Content-Length: 4\r\nContent-Length: 4"),
    "a length said twice in a line": GOOD.replace(b"Content-Length: 4", b"Content-Length: 4, 4"),
    "a length with blanks": GOOD.replace(b"Length: 4", b"Length:   4  "),
    "a folded header": GOOD.replace(b"text/html", b"text/html;\r\n  charset=utf-8"),
    "an old protocol": b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\nfine",
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_page_is_whole_and_the_next_answer_is_the_next_ones(
    site: Site, get: Callable[..., list[Fetched]], name: str
) -> None:
    site.pages |= {"/": lambda asked: WHOLE[name], "/next": page("next")}
    first, second = get(site.url("/"), site.url("/next"))
    assert (first.status, first.body, first.reason) == (200, b"fine", ""), first.detail
    assert (second.body, second.reason) == (b"next", "")
    assert all("\n" not in value for _, value in first.headers)


NO_BODY = {
    "204, chunked": (b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", 204),
    "204, a length": (b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", 204),
    "304, chunked": (b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\nTransfer-Encoding: chunked\r\n\r\n', 304),
    "304, a length": (b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\nContent-Length: 500\r\n\r\n', 304),
    "304, two lengths": (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", 304),
    "103, then 304": (
        b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n",
        304,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_BODY)
def test_an_answer_without_a_body_ends_with_its_head(site: Site, get: Callable[..., list[Fetched]], name: str) -> None:
    """The connection stays open: who waits for a body waits in vain."""
    data, status = NO_BODY[name]

    def held(asked: Asked) -> Answer:
        def pieces() -> Iterator[bytes]:
            yield data
            opened.wait(20)

        return pieces()

    opened = threading.Event()
    site.pages |= {"/": held}
    try:
        (answer,) = get(site.url("/"), etag='"1"')
    finally:
        opened.set()
    assert (answer.status, answer.reason, answer.body) == (status, "", b""), answer.detail
    assert answer.milliseconds < 10_000


BROKEN = {
    "a length too long": b"Content-Length: 500\r\n\r\nshort",
    "chunks cut": b"Transfer-Encoding: chunked\r\n\r\n5\r\nabc",
    "no chunks": b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    "nothing of chunks": b"Transfer-Encoding: chunked\r\n\r\n",
    "no compression": b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain",
    "compression cut": b"Content-Encoding: gzip\r\nContent-Length: 500\r\n\r\n\x1f\x8b\x08",
}
HEADS = {
    301: b"Location: /to\r\n", 302: b"Location: /to\r\n", 303: b"Location: /to\r\n", 307: b"Location: /to\r\n",
    308: b"Location: /to\r\n", 304: b"", 401: b"WWW-Authenticate: Basic realm=x\r\n", 404: b"", 410: b"", 403: b"",
    429: b"Retry-After: 7\r\n", 500: b"", 503: b"Retry-After: 7\r\n",
}  # fmt: skip


@pytest.mark.parametrize("status", HEADS)
@pytest.mark.parametrize("name", BROKEN)
def test_where_the_head_says_all_a_broken_body_says_nothing(
    site: Site, get: Callable[..., list[Fetched]], status: int, name: str
) -> None:
    site.pages["/"] = raw(b"HTTP/1.1 %d Said\r\n" % status + HEADS[status] + BROKEN[name])
    (answer,) = get(site.url("/"), etag='"1"')
    assert (answer.status, answer.reason, answer.body) == (status, "", b""), answer.detail
    assert answer.header("location") == ("/to" if 300 < status < 304 or 307 <= status <= 308 else "")
    verdict = judge(answer, 1, 0.0)
    assert verdict.wait == (7.0 if status in (429, 503) else 0.0)


def test_a_page_with_a_broken_body_is_still_no_page(site: Site, get: Callable[..., list[Fetched]]) -> None:
    for name, rest in BROKEN.items():
        site.pages["/"] = raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + rest)
        (answer,) = get(site.url("/"))
        assert answer.reason in ("cut_short", "decode_failed") and answer.body == b"", name


NO_HTTP = {
    "a carriage return alone": b"HTTP/1.1 200 OK\rContent-Type: text/html\r\n\r\nx",
    "two carriage returns": b"HTTP/1.1 200 OK\r\nX: y\r\r\nContent-Length: 1\r\n\r\nx",
    "a header in a header": b"HTTP/1.1 200 OK\r\nX: y\rLocation: /z\r\nContent-Length: 1\r\n\r\nx",
    "a zero byte": b"HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 1\r\n\r\nx",
    "a tab behind the version": b"HTTP/1.1\t200 OK\r\nContent-Length: 1\r\n\r\nx",
    "a long version": b"HTTP/1.10 200 OK\r\nContent-Length: 1\r\n\r\nx",
    "a version of others": b"HTTP/4.2 200 OK\r\nContent-Length: 1\r\n\r\nx",
    "four digits": b"HTTP/1.1 2000 OK\r\nContent-Length: 1\r\n\r\nx",
    "another protocol": b"ICY 200 OK\r\nContent-Length: 1\r\n\r\nx",
}


@pytest.mark.parametrize("name", NO_HTTP)
def test_what_only_looks_like_http_is_refused(site: Site, get: Callable[..., list[Fetched]], name: str) -> None:
    site.pages["/"] = raw(NO_HTTP[name])
    (answer,) = get(site.url("/"))
    assert (answer.reason, answer.body) == ("bad_response", b""), (answer.status, answer.headers)


# -- connections that end -------------------------------------------------------------------------------------------


def silent(asked: Asked) -> Answer:
    return iter(())


class Ending:
    """A page whose n-th request finds its connection closed, politely or not."""

    def __init__(self, *silences: int) -> None:
        self.silences, self.asked = silences, 0

    def __call__(self, asked: Asked) -> Answer:
        self.asked += 1
        return silent(asked) if self.asked in self.silences else GOOD


def test_a_kept_connection_that_ends_without_a_word_costs_one_more_request(
    site: Site, get: Callable[..., list[Fetched]]
) -> None:
    ending = site.pages["/"] = Ending(2, 4)
    answers = get(*[site.url("/")] * 4)
    assert [(answer.status, answer.body, answer.reason) for answer in answers] == [(200, b"fine", "")] * 4
    assert ending.asked == 6


def test_it_is_not_tried_for_ever(site: Site, get: Callable[..., list[Fetched]]) -> None:
    ending = site.pages["/"] = Ending(*range(2, 99))
    first, second = get(site.url("/"), site.url("/"))
    assert first.reason == "" and second.reason in ("bad_response", "connect_failed") and ending.asked == 3


def test_an_empty_reply_on_a_fresh_connection_is_asked_for_again_by_the_crawl(
    site: Site, get: Callable[..., list[Fetched]]
) -> None:
    site.pages["/"] = silent
    (answer,) = get(site.url("/"))
    assert answer.reason != "" and len(site.log) == 1
    assert (judge(answer, 1, 0.0).kind, judge(answer, 3, 0.0).kind) == (RETRY, FAILURE)


def test_a_reset_on_a_kept_connection_costs_one_more_request(get: Callable[..., list[Fetched]]) -> None:
    """The server answers once on each connection, and resets it at the next request."""
    server = socket.create_server(("127.0.0.1", 0))
    served: list[int] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                connection.recv(65_536)
                connection.sendall(GOOD)
                served.append(1)
                if connection.recv(65_536):
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    threading.Thread(target=serve, daemon=True).start()
    url = f"http://127.0.0.1:{server.getsockname()[1]}/"
    answers = get(url, url, url)
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    assert [(answer.status, answer.body) for answer in answers] == [(200, b"fine")] * 3 and len(served) == 3
