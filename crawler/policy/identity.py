"""Identity: which addresses are one page, by the options of the crawl point that owns them. Pure."""

from clearinghouse.addresses import Address, Refusal
from clearinghouse.addresses.parsing import parse
from crawler.values import Fetched, PointSettings

from .session_ids import HINT, without_folder, without_sessions


def identify(address: Address, owner: PointSettings) -> Address:
    """The address that names the page: without session parameters, query or scheme where the owner says so."""
    path, query, scheme = address.path, address.query, address.scheme
    has_query = "?" in address.href
    if owner.ignore_query:
        has_query, query = False, ""
    if owner.drop_sessions and (has_query or ";" in path or "(" in path or "%28" in path) and HINT.search(address.href):
        path, shorter = without_sessions(path, query)
        if shorter != query:
            query, has_query = shorter, bool(shorter)
    if owner.merge_schemes:
        scheme = owner.root.partition(":")[0].lower()
    if (path, query, scheme, has_query) == (address.path, address.query, address.scheme, "?" in address.href):
        return address
    return _rebuilt(address, scheme, path, query if has_query else None)


def without_session_folder(address: Address) -> Address:
    """The address without the folder in which ASP.NET keeps a session."""
    path = without_folder(address.path) or "/"
    if path == address.path:
        return address
    return _rebuilt(address, address.scheme, path, address.query if "?" in address.href else None)


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


def own_form(named: Address, fetched: Fetched, destination: str) -> Address | None:
    """Where to ask again when a site redirects an address to what for us is the same, with its session id in it: some
    give a page only there. A password does not go to a form of an address that a server chose."""
    place = parse(destination)
    request = fetched.request
    if isinstance(place, Refusal) or place.href in (named.href, request.url) or request.credentials is not None:
        return None
    return place if place.origin == named.origin else None


def _rebuilt(address: Address, scheme: str, path: str, query: str | None) -> Address:
    authority = address.href.split("/", 3)[2]
    href = f"{scheme}://{authority}{path}" + ("" if query is None else f"?{query}")
    result = parse(href)  # dropping a part may leave a dot segment or a port that is the other scheme's default
    return address if isinstance(result, Refusal) else result
