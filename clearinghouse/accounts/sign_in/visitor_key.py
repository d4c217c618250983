"""Owns: who counts as one visitor; pure. Called by: the throttles of the door and of the search."""

import re
from ipaddress import IPv6Address, ip_address

_WITH_PORT = re.compile(r"\[([0-9a-fA-F:.]+)\](?::\d+)?|([0-9.]+):\d+")  # as some proxies write it


def visitor_key(address: str) -> str:
    """One text for all addresses of one visitor: of the sixth version everybody has 2^64 of them, which are one; the
    port, another with each connection, is none of it."""
    written = _WITH_PORT.fullmatch(address)
    text = (written[1] or written[2]) if written else address
    try:
        read = ip_address(text)
    except ValueError:
        return address[:64]
    if not isinstance(read, IPv6Address):
        return str(read)
    return str(read.ipv4_mapped) if read.ipv4_mapped else str(int(read) >> 64)
