"""Owns: what is odd about a crawl point although it may be saved, each with a repair where one press can do it.

Does not: touch a database or a network. Called by: crawlpoints.services and the panel.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from clearinghouse.addresses import Address
from clearinghouse.addresses.networks import port_allowed
from clearinghouse.addresses.parsing import parse

from .models import AuthType, CrawlPoint
from .point_checks import suggested_root
from .points_by_address import Neighbour, comparable_root

DEEP = 5
USUAL_MAXIMUM = 500


class Caution(NamedTuple):
    code: str
    text: str
    fix: str = ""  # label of the button
    values: dict[str, Any] = {}  # what the button saves
    other: int | None = None  # another crawl point this is about
    link: str = ""  # where the button leads, when it changes nothing here


def cautions_for(point: CrawlPoint, neighbours: Sequence[Neighbour]) -> list[Caution]:
    """In the order of the dialog's fields."""
    address = parse(point.url)
    if not isinstance(address, Address):
        return [Caution("bad_address", f"{point.url} is not an address the crawler can read")]
    root = comparable_root(point.root)
    found = [
        _scheme(point, address, root),
        _port(address),
        _cut_segment(address, root),
        _whole_site(point, root),
        _depth_zero(point),
        *_overlaps(root, neighbours),
        _unencrypted(point, address),
        _no_password(point),
    ]
    return [caution for caution in found if caution is not None]


def _scheme(point: CrawlPoint, address: Address, root: str) -> Caution | None:
    if point.merge_schemes or root.startswith(address.scheme + ":"):
        return None
    text = "URL and root string differ in http and https; pages of the other one are outside this root string"
    return Caution("scheme", text, "Change both to https", to_https(point) | {"root": _https(root)})


def _port(address: Address) -> Caution | None:
    if port_allowed(address.host, address.port):
        return None
    text = f"Port {address.port} is not allowed, so this URL would be skipped. Ask an administrator to allow it"
    return Caution("port", text)


def _cut_segment(address: Address, root: str) -> Caution | None:
    path = urlsplit(root).path
    if path.endswith("/") or "?" in root or address.href.partition("?")[0] == root:
        return None
    text = f"{root} also matches {path}-old and {path}2"
    better = f"{root}/" if address.href.startswith(f"{root}/") else suggested_root(address.href)
    return Caution("cut_segment", text, f"Use {better}", {"root": better})


def _whole_site(point: CrawlPoint, root: str) -> Caution | None:
    if point.max_pages or point.depth <= DEEP or urlsplit(root).path not in {"", "/"}:
        return None
    fix = f"Set maximum pages to {USUAL_MAXIMUM}"
    return Caution("whole_site", "This may crawl the whole site", fix, {"max_pages": USUAL_MAXIMUM})


def _depth_zero(point: CrawlPoint) -> Caution | None:
    if point.depth or (point.max_pages or 0) <= 1:
        return None
    return Caution("depth_zero", "With depth limit 0 only one page is crawled")


def _overlaps(root: str, neighbours: Sequence[Neighbour]) -> list[Caution]:
    found = []
    for other in neighbours:
        theirs = comparable_root(other.root)
        if other.active and (theirs.startswith(root) or root.startswith(theirs)):
            path = urlsplit(max(root, theirs, key=len)).path
            text = f"Pages under {path} are also covered by crawl point {other.url}; they are stored once"
            found.append(Caution("overlap", text, "Open the other", other=other.id))
    return found


def _unencrypted(point: CrawlPoint, address: Address) -> Caution | None:
    if address.scheme == "https" or point.auth_type not in {AuthType.BASIC, AuthType.FORM}:
        return None
    return Caution("unencrypted", "The password would travel unencrypted", "Change to https", to_https(point))


def _no_password(point: CrawlPoint) -> Caution | None:
    if not point.auth_type or point.password:
        return None
    return Caution("no_password", "No password is saved, so the site will refuse. Enter it with Update")


def to_https(point: CrawlPoint) -> dict[str, str]:
    """Everything of a crawl point that must change together."""
    values = {"url": _https(point.url), "root": _https(point.root)}
    form = point.auth_type == AuthType.FORM and point.sign_in_url
    return values | {"sign_in_url": _https(point.sign_in_url)} if form else values


def _https(url: str) -> str:
    return "https:" + url.partition(":")[2]
