"""Owns: how a stranger's bytes are shown from our address: fixed types, a sandbox, a banner; they can harm nobody.

The type the site declared is never used: HTML is shown in a sandbox without scripts, forms and outside content, text
as plain text, everything else is downloaded. Does not: know whose row it is. Called by: the screens that show copies.
"""

import re
from datetime import datetime

from django.http import HttpResponse
from django.utils.html import format_html

from clearinghouse.access.templatetags.pieces import date_words

from .types import CSV, EXTENSIONS, HTML, TEXT, XHTML, XML

POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-DNS-Prefetch-Control": "off",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Robots-Tag": "noindex",
}
_BODY = re.compile(rb"<body\b[^<>]*>", re.IGNORECASE)  # no "<" inside: many unfinished tags cost no more than one
_STYLE = "all:initial;display:block;padding:8px 16px;background:#fff8c5;color:#222;font:16px/1.5 sans-serif"


def answer(number: int, type_id: int, body: bytes, url: str, stored_at: datetime) -> HttpResponse:
    """The stored copy as a response that can do nothing on our site; `number` names the file of a download."""
    if type_id in (HTML, XHTML, TEXT, XML, CSV):
        body = _narrow(body)
    if type_id in (HTML, XHTML):
        response = HttpResponse(_with_banner(body, url, stored_at), content_type="text/html" + _charset(body))
    elif type_id in (TEXT, XML, CSV):
        response = HttpResponse(body, content_type="text/plain" + _charset(body))
    else:
        response = HttpResponse(body, content_type="application/octet-stream")
        name = f"page-{number}{EXTENSIONS.get(type_id, '.bin')}"
        response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    for name, value in _HEADERS.items():
        response.headers[name] = value
    return response


def _narrow(body: bytes) -> bytes:
    """UTF-16 as UTF-8: no banner can stand in it."""
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", "replace").encode("utf-8", "replace")
    return body


def _charset(body: bytes) -> str:
    """UTF-8 where it is; else the page's own declaration decides, as on its site. ISO-2022-JP and UTF-16 without a mark
    look like UTF-8."""
    if b"\x1b$" in body or b"\0" in body:
        return ""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return "; charset=utf-8"


def _with_banner(body: bytes, url: str, stored_at: datetime) -> bytes:
    banner = format_html(
        '<base href="{}"><meta name="robots" content="noindex"><div style="{}">'
        "Copy stored on {} from {}. The live page may differ.</div>",
        url,
        _STYLE,
        date_words(stored_at),
        url,
    ).encode("ascii", "xmlcharrefreplace")
    start = _BODY.search(body)
    place = start.end() if start else 0
    return body[:place] + banner + body[place:]
