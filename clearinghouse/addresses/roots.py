"""Root strings: what an address must begin with to belong to a crawl point."""

from functools import lru_cache

from .parsing import canonical


@lru_cache(maxsize=4096)
def canonical_root(text: str) -> str:
    """The root string made comparable; ValueError when it is no http or https address.

    The host becomes complete (https://a.org is https://a.org/), so that it is compared as a host; the path may end
    in the middle of a name, as typed.
    """
    return canonical(text)


def begins_with(href: str, root: str) -> bool:
    """Does a canonical address begin with the root string? Byte for byte; False for a root that is no address."""
    try:
        return href.startswith(canonical_root(root))
    except ValueError:
        return False


def folder_of(url: str) -> str:
    """The address up to its last slash: the root string suggested for a start URL."""
    path = canonical(url).partition("?")[0]
    return path[: path.rfind("/") + 1]
