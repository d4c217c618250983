"""Owns: reading one page, whatever its type. Called by: the parser process (server), the preview."""

from clearinghouse.addresses import Address, Refusal
from clearinghouse.published import types
from crawler.values import Extracted, Fetched

from . import page_kind
from .html.html_page import obey_robots, read_html
from .office.document_reader import read_document
from .plain_text import read_text
from .xml.xml_page import read_xml


def read(fetched: Fetched, address: Address) -> Extracted | Refusal:
    """Read a page that was fetched: its type by what the server said and what came, then its contents."""
    type_id = page_kind.decide(fetched.headers, address.path, fetched.body)
    if isinstance(type_id, Refusal):
        return type_id
    page = Extracted(type_id, types.EXTENSIONS[type_id])
    if fetched.truncated:
        page.flags.append("body_cut")
    body, charset = fetched.body, page_kind.charset_of(fetched.headers)
    if type_id in (types.HTML, types.XHTML):
        read_html(body, address.href, charset, page)
    elif type_id == types.XML:
        read_xml(body, address.href, charset, page)
    elif type_id in (types.TEXT, types.CSV):
        read_text(body, charset, page)
    else:
        read_document(body, address.href, page)
    obey_robots([value for name, value in fetched.headers if name == "x-robots-tag"], page)
    return page
