"""What the end of a transfer means, in the words of the closed list of reasons. Pure."""

from typing import NamedTuple

import pycurl

from crawler.values import ANSWERED_NOTHING, NO_NAME_SERVER, Fetched


class Ending(NamedTuple):
    code: int  # libcurl's
    message: str
    connected: bool
    status: int  # 0: not a line of an answer came


_WEIRD_SERVER_REPLY, _HTTP2_STREAM, _TOO_LARGE = 8, 92, 100  # libcurl codes that pycurl gives no name
_REASONS = {
    pycurl.E_URL_MALFORMAT: ("dns_failed", "the host name cannot exist"),
    pycurl.E_COULDNT_RESOLVE_HOST: ("dns_failed", "the host name is unknown"),
    pycurl.E_COULDNT_CONNECT: ("connect_failed", "no connection"),
    pycurl.E_PEER_FAILED_VERIFICATION: ("tls_failed", "the certificate is not valid"),
    pycurl.E_SSL_CONNECT_ERROR: ("tls_failed", "no encryption could be agreed on"),
    pycurl.E_SSL_CIPHER: ("tls_failed", "no encryption could be agreed on"),
    pycurl.E_SSL_CERTPROBLEM: ("tls_failed", "the certificate is not valid"),
    pycurl.E_SSL_CACERT_BADFILE: ("error", "our list of certificate authorities cannot be read"),
    pycurl.E_SSL_ENGINE_NOTFOUND: ("tls_failed", ""),
    pycurl.E_PARTIAL_FILE: ("cut_short", "the body ended early"),
    pycurl.E_GOT_NOTHING: ("bad_response", ANSWERED_NOTHING),
    pycurl.E_RECV_ERROR: ("cut_short", "the connection broke"),
    pycurl.E_SEND_ERROR: ("connect_failed", "the connection broke"),
    pycurl.E_HTTP2: ("bad_response", "HTTP/2 was broken"),
    _HTTP2_STREAM: ("cut_short", "the stream was closed early"),
    pycurl.E_BAD_CONTENT_ENCODING: ("decode_failed", "the body cannot be decompressed"),
    _WEIRD_SERVER_REPLY: ("bad_response", "the answer is not HTTP"),
    pycurl.E_UNSUPPORTED_PROTOCOL: ("bad_response", "the answer is not HTTP"),
    _TOO_LARGE: ("bad_response", "its headers are endless"),
    pycurl.E_WRITE_ERROR: ("bad_response", "the answer cannot be read"),
    pycurl.E_LOGIN_DENIED: ("auth_failed", ""),
}


def of_libcurl(ending: Ending) -> tuple[str, str]:
    """Reason and detail of a transfer that libcurl gave up. Its own text may quote the server: it is not passed on."""
    if ending.code == pycurl.E_OPERATION_TIMEDOUT:
        if "too slow" in ending.message:
            return "too_slow", "less than 1 KB/s"
        if "esolv" in ending.message:
            return "dns_failed", NO_NAME_SERVER
        return ("timeout", "the time for one page is over") if ending.connected else ("connect_failed", "no answer")
    if ending.code == pycurl.E_RECV_ERROR and not ending.status:
        return "connect_failed", "the connection broke"
    return _REASONS.get(ending.code, ("bad_response", f"libcurl {ending.code}"))


def says_all(status: int) -> bool:
    """Whether the head of an answer is all that is read of it: how its body ends means nothing then."""
    return status >= 300


def of_answer(answer: Fetched) -> tuple[str, str]:
    """Reason and detail of an answer that came whole; empty when it can be used."""
    status, request = answer.status, answer.request
    if len(lengths([value for name, value in answer.headers if name == "content-length"])) > 1:
        return "bad_response", "several different Content-Length headers"
    if not _codings(answer) <= {"chunked", "identity", ""}:
        return "bad_response", "an unknown Transfer-Encoding"
    if status < 200 or status >= 600:
        return "bad_response", f"status {status}"
    if status == 206:
        return "bad_response", "status 206, a part of a page"
    if status == 304:
        asked = request.etag or request.last_modified
        return ("", "") if asked else ("bad_response", "status 304, which was not asked for")
    if 300 <= status < 400:
        return _of_redirect(answer)
    return "", ""


def _of_redirect(answer: Fetched) -> tuple[str, str]:
    places = {value for name, value in answer.headers if name == "location"}
    if len(places) > 1:
        return "bad_response", "several different Location headers"
    return ("", "") if places and places != {""} else ("bad_response", f"status {answer.status} without Location")


def _codings(answer: Fetched) -> set[str]:
    values = [value for name, value in answer.headers if name == "transfer-encoding"]
    return {value.strip().lower() for value in ",".join(values).split(",")} if values else set()


def lengths(values: list[str]) -> set[str]:
    """The different lengths that Content-Length headers say, as they are written: 030 and 30 are two (Fetch)."""
    return {word.strip() for word in ",".join(values).split(",")} if values else set()
