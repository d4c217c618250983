"""Links in their stored form: one packed value a page."""

import zlib

from crawler.values import Link

_FIELD, _ROW = "\x1f", "\x1e"


def pack_links(links: list[Link]) -> bytes:
    """All links of a page, small; nothing for none."""
    if not links:
        return b""
    rows = [f"{url}\x1f{anchor}\x1f{'n' if nofollow else ''}" for url, anchor, nofollow in links]
    return zlib.compress(_ROW.join(rows).encode("utf-8", "surrogatepass"), 1)


def unpack_links(packed: bytes) -> list[Link]:
    """The links that were packed, in their order."""
    if not packed:
        return []
    rows = zlib.decompress(packed).decode("utf-8", "surrogatepass").split(_ROW)
    return [Link(url, anchor, nofollow == "n") for url, anchor, nofollow in (row.split(_FIELD) for row in rows)]
