"""Owns: how a stranger's bytes are shown from our address: fixed types, a sandbox, a banner. Called by: the views.

The declared type of the page is never used: HTML is shown in a sandbox without scripts, forms and outside content,
text as plain text, everything else is downloaded.
"""

import re

from django.http import HttpResponse
from django.utils.html import format_html

from clearinghouse.access.templatetags.pieces import date_words
from clearinghouse.published.models import PublishedVersion
from clearinghouse.published.types import CSV, EXTENSIONS, HTML, TEXT, XHTML, XML

POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_BODY = re.compile(rb"<body\b[^>]*>", re.IGNORECASE)
_STYLE = "all:initial;display:block;padding:8px 16px;background:#fff8c5;color:#222;font:16px/1.5 sans-serif"


def copy_of(row: PublishedVersion) -> HttpResponse:
    """The stored copy as a response that can do nothing on our site."""
    body = bytes(row.body or b"")
    if row.type_id in (HTML, XHTML):
        response = HttpResponse(_with_banner(body, row), content_type="text/html" + _charset(body))
    elif row.type_id in (TEXT, XML, CSV):
        response = HttpResponse(body, content_type="text/plain" + _charset(body))
    else:
        response = HttpResponse(body, content_type="application/octet-stream")
        name = f"page-{row.pk}{EXTENSIONS.get(row.type_id, '.bin')}"
        response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def _charset(body: bytes) -> str:
    """UTF-8 where it is; else the page's own declaration decides, as on its site."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return "; charset=utf-8"


def _with_banner(body: bytes, row: PublishedVersion) -> bytes:
    banner = format_html(
        '<base href="{}"><meta name="robots" content="noindex"><div style="{}">'
        "Copy stored on {} from {}. The live page may differ.</div>",
        row.url,
        _STYLE,
        date_words(row.crawled_at),
        row.url,
    ).encode("ascii", "xmlcharrefreplace")
    start = _BODY.search(body)
    place = start.end() if start else 0
    return body[:place] + banner + body[place:]
