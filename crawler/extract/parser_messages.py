"""Owns: how a page travels to a parser process and back. Does not: run one. Called by: server,
crawler.engine.child_processes.

Texts are joined with NUL, which no address, header or text of a page contains any more; a broken parser can at worst
send nonsense text, never code (a pickle could).
"""

import json
import struct
from dataclasses import dataclass, field

from clearinghouse.addresses import Refusal
from clearinghouse.addresses.parsing import split
from clearinghouse.database.digests import SIZE
from crawler.values import Extracted, Fetched, Request

from .packed_links import pack_links

HEAD = struct.Struct("<II")  # a job: sizes of the facts and of the body; an answer: sizes of the text and of the bytes
_HEADERS = frozenset({"content-type", "x-robots-tag", "content-disposition"})
_FIELDS = 13
_as_json = json.JSONEncoder(ensure_ascii=False).encode


@dataclass(slots=True)
class Parsed:
    """What reading a page gave, ready to be stored: the loop only copies it into a row."""

    digest: bytes
    refusal: Refusal | None = None
    type_id: int = 0
    extension: str = ""
    title: str = ""
    headings: str = ""
    text: str = ""
    language: str = ""
    canonical: str = ""
    charset: str = ""
    flags: str = ""  # space separated
    metas: str = "[]"  # JSON
    packed: bytes = b""  # the links as stored
    urls: list[str] = field(default_factory=list)  # of the links, in order
    marks: str = ""  # for each link "1" if it says nofollow

    @property
    def nofollow(self) -> bool:
        return "nofollow" in self.flags.split()


def job(fetched: Fetched, href: str) -> bytes:
    facts = [href, "cut" if fetched.truncated else ""]
    for pair in fetched.headers:
        if pair[0] in _HEADERS:
            facts += pair
    text = "\0".join([fact.replace("\0", "") for fact in facts]).encode("utf-8", "surrogatepass")
    return b"".join((HEAD.pack(len(text), len(fetched.body)), text, fetched.body))


def read_job(facts: bytes, body: bytes) -> Fetched:
    """What a job is about."""
    href, truncated, *pairs = facts.decode("utf-8", "surrogatepass").split("\0")
    address = split(href)
    headers = list(zip(pairs[::2], pairs[1::2], strict=True))
    return Fetched(Request(href, address), 200, headers, body, truncated=truncated == "cut")


def answer(digest: bytes, found: Extracted | Refusal) -> bytes:
    if isinstance(found, Refusal):
        text = "\0".join(("refused", found.reason, found.detail.replace("\0", ""))).encode("utf-8", "replace")
        return HEAD.pack(len(text), len(digest)) + text + digest
    flags = [*found.flags, *(["nofollow"] if found.nofollow else []), *(["noindex"] if found.noindex else [])]
    urls, nofollows = [link[0] for link in found.links], [link[2] for link in found.links]
    fields = (
        str(found.type_id), found.extension, found.title, found.headings, found.text, found.language, found.canonical,
        found.charset, " ".join(flags), _as_json(found.metas), "\n".join(urls),
        "".join(map("01".__getitem__, nofollows)), "",
    )  # fmt: skip
    text = "\0".join(fields).encode("utf-8", "replace")
    packed = pack_links(found.links)
    return b"".join((HEAD.pack(len(text), len(digest) + len(packed)), text, digest, packed))


def parsed(text: memoryview, data: memoryview) -> Parsed:
    """Read an answer; ValueError when it is none."""
    fields = str(text, "utf-8", "replace").split("\0")
    digest = bytes(data[:SIZE])
    if fields[0] == "refused":
        return Parsed(digest, refusal=Refusal(fields[1], fields[2]))
    if len(fields) != _FIELDS or len(digest) != SIZE:
        raise ValueError("not the answer of a parser")
    urls = fields[10].split("\n") if fields[10] else []
    return Parsed(
        digest, None, int(fields[0]), fields[1], fields[2], fields[3], fields[4], fields[5], fields[6], fields[7],
        fields[8], fields[9], bytes(data[SIZE:]), urls, fields[11],
    )  # fmt: skip
