"""Reads a document as the crawler does, child process included."""

from clearinghouse.addresses import Address
from clearinghouse.addresses.parsing import parse
from crawler.extract import page_reader as reading
from crawler.values import Extracted, Fetched, Request

OFFICE = "application/vnd.openxmlformats-officedocument."
DOCX = OFFICE + "wordprocessingml.document"
XLSX = OFFICE + "spreadsheetml.sheet"
PPTX = OFFICE + "presentationml.presentation"
OPEN_DOCUMENT = "application/vnd.oasis.opendocument."


def read(body: bytes, kind: str, url: str = "http://a.org/d/file") -> Extracted:
    address = parse(url)
    assert isinstance(address, Address)
    found = reading.read(Fetched(Request(address.href, address), 200, [("content-type", kind)], body), address)
    assert isinstance(found, Extracted)
    return found


def text_of(body: bytes, kind: str) -> str:
    return read(body, kind).text
