"""Owns: how a stranger's bytes are shown from our address: fixed types, a sandbox, a banner; they can harm nobody.

The type the site declared is never used: HTML is shown in a sandbox without scripts, forms and outside content, text
as plain text, everything else is downloaded. Does not: know whose row it is. Called by: the screens that show copies.
"""

import codecs
import re
from collections.abc import Sequence
from datetime import datetime

from django.http import HttpResponse
from django.utils.html import format_html, format_html_join

from ..web.templatetags.formats import date_words
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
# What may stand before a document's first element. The banner goes behind it, before anything else of the page: a
# place further on could be one that browsers never show (a comment, a script, an attribute).
_DOCTYPE = re.compile(
    rb"\s*(?:<\?[^>]*>\s*)?(?:<!--(?!-?>)[^-]*(?:-(?!-)[^-]*)*-->\s*)?<!doctype\b[^>]*>", re.IGNORECASE
)
_DECLARED = re.compile(rb"<meta\b[^>]{0,200}?\bcharset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_LOOKED_AT = 1024  # bytes in which a page may say its encoding
_NOT_OF_ASCII = ("utf-16", "utf-32", "utf-7")  # in which the banner could not be read; browsers take UTF-8 for them


def _style(**values: object) -> str:
    """The page's own styles must not hide it."""
    return "".join(f"{name.replace('_', '-')}:{value}!important;" for name, value in values.items())


_STYLE = _style(
    all="initial", display="block", position="relative", z_index=2**31 - 1, padding="8px 16px", background="#fff8c5",
    color="#222", font="16px/1.5 sans-serif", opacity=1, visibility="visible",
)  # fmt: skip
_LINK_STYLE = _style(all="revert", color="#0645ad", display="inline-block", margin_left="16px")
Way = tuple[str, str]  # the text of a link back, and its whole address: the page's own base makes others of the rest


def answer(
    number: int, type_id: int, body: bytes, url: str, stored_at: datetime, back: Sequence[Way] = ()
) -> HttpResponse:
    """The stored copy as a response that can do nothing on our site; `number` names the file of a download."""
    if type_id in (HTML, XHTML, TEXT, XML, CSV):
        body = _without_mark(body)
    if type_id in (HTML, XHTML):
        response = HttpResponse(_with_banner(body, url, stored_at, back), content_type="text/html" + _charset(body))
    elif type_id in (TEXT, XML, CSV):
        response = HttpResponse(body, content_type="text/plain" + _charset(body))
    else:
        response = HttpResponse(body, content_type="application/octet-stream")
        name = f"page-{number}{EXTENSIONS.get(type_id, '.bin')}"
        response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    for name, value in _HEADERS.items():
        response.headers[name] = value
    return response


def _charset(body: bytes) -> str:
    """UTF-8 where it is; else the page's own declaration decides, as on its site (which looks for it in the same
    place: behind the banner it could stand too far on). ISO-2022-JP and UTF-16 without a mark look like UTF-8."""
    try:
        if b"\x1b$" not in body and b"\0" not in body:
            body.decode("utf-8")
            return "; charset=utf-8"
    except UnicodeDecodeError:
        pass
    declared = _DECLARED.search(body, 0, _LOOKED_AT)
    name = declared[1].decode().lower() if declared else ""
    return f"; charset={name}" if name and not name.startswith(_NOT_OF_ASCII) else ""


def _without_mark(body: bytes) -> bytes:
    """In an encoding that has the letters of ASCII; a byte order mark would no longer stand first."""
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", "replace").encode(errors="replace")
    return body.removeprefix(codecs.BOM_UTF8)


def _with_banner(body: bytes, url: str, stored_at: datetime, back: Sequence[Way] = ()) -> bytes:
    banner = format_html(
        '<base href="{}"><meta name="robots" content="noindex"><div style="{}">'
        "Copy stored on {} from {}. The live page may differ.{}</div>",
        url,
        _STYLE,
        date_words(stored_at),
        url,
        format_html_join("", ' <a style="{}" href="{}">{}</a>', ((_LINK_STYLE, to, text) for text, to in back)),
    ).encode("ascii", "xmlcharrefreplace")
    start = _DOCTYPE.match(body)
    place = start.end() if start else 0
    return body[:place] + banner + body[place:]
