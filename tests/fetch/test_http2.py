"""Sites that speak HTTP/2: a real server says which protocol each request came in."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crawler.engine.response_kind import RETRY, judge
from crawler.fetch import curl_transfer
from crawler.fetch.curl import CurlTransport
from tests.bench.crawl import free_port, wait_for_port
from tests.hostile.fetching import fetch_all, request
from tests.proves import proves
from tests.requirements import need
from tests.sites import certificates, http2

PAGES = 60


@contextmanager
def nginx(folder: Path) -> Iterator[tuple[str, Path]]:
    """Its address, and its log: protocol, path and connection of each request."""
    log, config = folder / "requests.log", folder / "nginx.conf"
    port = free_port()
    config.write_text(
        f"daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;\n"
        "events { worker_connections 64; }\n"
        "http { log_format told '$server_protocol $request_uri $connection'; default_type text/html;\n"
        f"  access_log {log} told; gzip on; gzip_min_length 1;\n"
        f"  server {{ listen 127.0.0.1:{port} ssl http2; ssl_certificate {folder}/server.pem;\n"
        f"    ssl_certificate_key {folder}/server.pem;\n"
        "    location / { return 200 '<p>page $request_uri'; }\n"
        "    location = /gone { return 410 'gone'; }\n"
        "    location = /moved { return 302 /1; }\n"
        "    location = /nothing { return 444; } } }\n"
    )
    server = subprocess.Popen(["nginx", "-c", str(config)], stderr=subprocess.DEVNULL)
    try:
        wait_for_port(port)
        yield f"https://127.0.0.1:{port}", log
    finally:
        server.terminate()
        server.wait()


@proves("D29")
def test_a_site_that_speaks_http_2_is_read_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("nginx", shutil.which("nginx") is not None, "there is no nginx")
    authority = certificates.make(tmp_path)
    monkeypatch.setattr(curl_transfer.certifi, "where", lambda: str(authority.file))
    paths = [f"/{number}" for number in range(PAGES)]
    with nginx(tmp_path) as (address, log):
        answers = fetch_all(
            CurlTransport(), [request(address + path) for path in [*paths, "/gone", "/moved", "/nothing"]]
        )
        time.sleep(0.1)
    found = {answer.request.address.path: answer for answer in answers}
    assert {(found[path].status, found[path].body) for path in paths} == {
        (200, f"<p>page {path}".encode()) for path in paths
    }
    assert {found[path].header("content-encoding") for path in paths} == {"gzip"}
    assert (found["/gone"].status, found["/gone"].reason) == (410, "")
    assert (found["/moved"].status, found["/moved"].header("location").endswith("/1")) == (302, True)
    assert found["/nothing"].reason in ("bad_response", "cut_short") and found["/nothing"].status == 0
    lines = [line.split() for line in log.read_text().splitlines()]
    assert {protocol for protocol, _, _ in lines} == {"HTTP/2.0"} and len(lines) >= PAGES + 2


@pytest.mark.parametrize(
    "answers",
    [
        [http2.refused, http2.fine],
        [http2.fine, http2.refused, http2.fine],
        [http2.fine, http2.going_away, http2.fine],
    ],
    ids=["refused", "refused on a kept connection", "ended while kept"],
)
def test_a_stream_nobody_looked_at_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: list[http2.Answer]
) -> None:
    """REFUSED_STREAM and GOAWAY say that the request was not processed (RFC 9113, 8.7): it costs no page."""
    authority = certificates.make(tmp_path)
    monkeypatch.setattr(curl_transfer.certifi, "where", lambda: str(authority.file))
    with http2.Site(authority.server, *answers) as site:
        fetcher = CurlTransport()
        found = []
        for number in range(len(answers)):
            fetcher.start(request(site.url(f"/{number}")))
            while fetcher.active():
                found += fetcher.wait(1)
        fetcher.close()
        asked = site.requests
    assert [(answer.status, answer.body, answer.reason) for answer in found] == [(200, b"fine", "")] * len(answers)
    assert asked == len(answers) + 1


def test_a_connection_that_ends_at_once_is_tried_again_by_the_crawl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = certificates.make(tmp_path)
    monkeypatch.setattr(curl_transfer.certifi, "where", lambda: str(authority.file))
    with http2.Site(authority.server, http2.going_away) as site:
        (answer,) = fetch_all(CurlTransport(), [request(site.url())])
    assert answer.status == 0 and judge(answer, 1, 0.0).kind == RETRY
