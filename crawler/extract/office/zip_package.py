"""A zipped document: its parts, and how they are related (OPC). Hostile by nature: everything in it is bounded.

Limits count the bytes that come out, never what a zip says about itself: overlapping entries lie.
"""

import io
import posixpath
import zipfile
import zlib
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import unquote

from lxml import etree

PRODUCED_AT_MOST = 100_000_000  # bytes unpacked from one document
PARTS_AT_MOST = 10_000
_CHUNK = 65_536
_TAGS_AT_MOST = 4_000_000  # of a part that becomes a tree: half a gigabyte of memory
_TYPES = "[content_types].xml"
# Office itself refuses parts with a grammar of their own; without one there is nothing to expand.
_GRAMMAR = b"<!DOCTYPE"
SAFE: dict[str, bool] = {
    "resolve_entities": False, "load_dtd": False, "no_network": True, "recover": True, "remove_comments": True,
    "remove_pis": True,
}  # fmt: skip


# A checksum that is wrong, data that ends early, a password, a way of packing nobody knows.
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError, ValueError)


class TooMuch(Exception):
    """The document unpacks to more than a document may."""


class Relationship(NamedTuple):
    id: str
    kind: str  # the last word of its type: what it is the same in both editions of the standard
    target: str  # the name of a part, or an address as written
    external: bool


class Package:
    def __init__(self, data: bytes) -> None:
        self._archive = zipfile.ZipFile(io.BytesIO(data))
        self.left = PRODUCED_AT_MOST  # bytes that may still be unpacked
        # Names of parts do not differ by case only; some writers begin them with / or write \ for it.
        self._names = {_plain(info.filename): info for info in self._archive.infolist()[:PARTS_AT_MOST]}

    def __contains__(self, part: str) -> bool:
        return _plain(part) in self._names

    def read(self, part: str) -> bytes:
        """The bytes of a part; none where there is no such part, and as many as can be had of a broken one."""
        info = self._names.get(_plain(part))
        produced: list[bytes] = []
        if info is None:
            return b""
        with suppress(*_BROKEN), self._archive.open(info) as stream:
            while chunk := stream.read(_CHUNK):
                self.left -= len(chunk)
                if self.left < 0:
                    raise TooMuch
                produced.append(chunk)
        return b"".join(produced)

    def root(self, part: str) -> Any:
        """The tree of a part, or None."""
        return root_of(self.read(part))

    def related(self, part: str) -> list[Relationship]:
        """What a part (of the package as a whole: "") is related to, in the order that is written."""
        folder, name = posixpath.split(part)
        root = self.root(posixpath.join(folder, "_rels", f"{name}.rels"))
        found: list[Relationship] = []
        for element in () if root is None else root.iter("{*}Relationship"):
            target, external = element.get("Target") or "", element.get("TargetMode") == "External"
            if target:
                kind = (element.get("Type") or "").rstrip("/").rpartition("/")[2]
                found.append(
                    Relationship(
                        element.get("Id") or "", kind, target if external else self._named(folder, target), external
                    )
                )
        return found

    def of_type(self, ending: str) -> str:
        """The first part whose content type ends so: for packages whose relationships are lost."""
        root = self.root(_TYPES)
        for element in () if root is None else root.iter("{*}Override"):
            if (element.get("ContentType") or "").endswith(ending):
                return str(element.get("PartName") or "")
        return ""

    def _named(self, folder: str, target: str) -> str:
        target = target.replace("\\", "/").partition("#")[0]
        name = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        return name if name in self else unquote(name)


def _plain(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()


def usable(data: bytes) -> tuple[bytes, bool]:
    """A part as UTF-8, and whether it is surely without a grammar: then it may be as large as it is."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    try:
        data.isascii() or data.decode()
    except UnicodeDecodeError:
        return data, False
    return data, _GRAMMAR not in data


def root_of(data: bytes) -> Any:
    """The root of a part's tree; None for what is no XML or brings its own grammar and entities."""
    data, plain = usable(data)
    if not data:
        return None
    if (tags := data.count(b"<")) > _TAGS_AT_MOST:
        data = data[: data.find(b"<", int(len(data) * _TAGS_AT_MOST / tags))]  # what came until there is read
    try:
        root = etree.fromstring(data, etree.XMLParser(encoding="utf-8" if plain else None, huge_tree=plain, **SAFE))
    except etree.XMLSyntaxError:
        return None
    if root is None or root.getroottree().docinfo.internalDTD is not None:
        return None
    return root
