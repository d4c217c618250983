"""Identity: which addresses are one page, by the options of the crawl point that owns them. Pure."""

import re

from clearinghouse.addresses import Address, Refusal
from clearinghouse.addresses.parse import parse
from crawler.values import PointSettings

_SESSION_NAMES = frozenset({"phpsessid", "jsessionid", "sid", "cfid", "cftoken"})
_SESSION_HINT = re.compile(r"phpsessid|jsessionid|sid|cfid|cftoken", re.IGNORECASE)
_SESSION_IN_PATH = re.compile(r";(?:phpsessid|jsessionid|sid|cfid|cftoken)=[^/;]*", re.IGNORECASE)


def identify(address: Address, owner: PointSettings) -> Address:
    """The address that names the page: without session parameters, query or scheme where the owner says so."""
    path, query, scheme = address.path, address.query, address.scheme
    has_query = "?" in address.href
    if owner.ignore_query:
        has_query, query = False, ""
    if owner.drop_sessions and (has_query or ";" in path) and _SESSION_HINT.search(address.href):
        path = _SESSION_IN_PATH.sub("", path)
        kept = [parameter for parameter in query.split("&") if not _is_session(parameter)]
        if len(kept) != query.count("&") + 1:
            query = "&".join(kept)
            has_query = bool(query)
    if owner.merge_schemes:
        scheme = owner.root.partition(":")[0].lower()
    if (path, query, scheme, has_query) == (address.path, address.query, address.scheme, "?" in address.href):
        return address
    return _rebuilt(address, scheme, path, query if has_query else None)


def wire_url(address: Address, append: str) -> str | Refusal:
    """What goes over the wire: the address with the append text put literally behind it; a refusal when both together
    are no address, too long for one, or an address that climbed elsewhere: rules and passwords belong to this one."""
    if not append:
        return address.href
    if append.startswith("?") and "?" in address.href:
        append = "&" + append[1:]
    result = parse(address.href + append)
    if isinstance(result, Refusal):
        return Refusal(result.reason, "with the append text")
    if not result.href.startswith(address.href.partition("?")[0]):
        return Refusal("bad_address", "the append text leads to another page")
    return result.href


def _is_session(parameter: str) -> bool:
    return parameter.partition("=")[0].lower() in _SESSION_NAMES


def _rebuilt(address: Address, scheme: str, path: str, query: str | None) -> Address:
    authority = address.href.split("/", 3)[2]
    href = f"{scheme}://{authority}{path}" + ("" if query is None else f"?{query}")
    result = parse(href)  # dropping a part may leave a dot segment or a port that is the other scheme's default
    return address if isinstance(result, Refusal) else result
