"""Owns: what is wrong with a URL as it was typed, in the words people read, and a better one where there is one.

Does not: touch a database or a network. Called by: checks, screens.
"""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from clearinghouse.addresses import MAX_LENGTH, Address, Refusal
from clearinghouse.addresses.networks import address_allowed
from clearinghouse.addresses.parsing import has_userinfo, parse

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):(?=//|[^0-9/])", re.IGNORECASE)
_HOST_FIRST = re.compile(r"(?:[\w-]+\.)+[\w-]{2,}(?::\d+)?(?:[/?#].*)?|localhost(?::\d+)?(?:/.*)?", re.IGNORECASE)


def url_message(text: str) -> tuple[str, str]:
    """What is wrong with the text before it is parsed, and a better URL."""
    if not text:
        return "Enter the URL where the crawl starts", ""
    if len(text) > MAX_LENGTH:
        return f"URL must be {MAX_LENGTH:,} characters or fewer. It is {len(text):,}", ""
    if _HOST_FIRST.fullmatch(text):
        better = suggested_url(f"https://{text}")
        return f"URL must start with http:// or https://. Did you mean {better}?", better
    scheme = _SCHEME.match(text)
    if scheme is None:
        return "URL must start with http:// or https://", ""
    if scheme[1].lower() not in {"http", "https"}:
        return f"{scheme[1].lower()} addresses cannot be crawled. Use http:// or https://", ""
    if space := re.search(r"\s", text):
        before = re.split(r"[/?#&=]", text[: space.start()])[-1]
        return f'This is not a web address the crawler can read: there is a space after "{before}"', ""
    if has_userinfo(text):
        return "Take the user name and password out of the URL and use Authentication instead", ""
    return "", ""


def refused(refusal: Refusal, text: str) -> str:
    """The same for a text that could not be parsed."""
    if refusal.reason == "too_long":
        length = refusal.detail.partition(" ")[0]
        return f"URL must be {MAX_LENGTH:,} characters or fewer. With its special characters escaped it is {length}"
    return f"This is not a web address the crawler can read: {_why_unreadable(text)}"


def suggested_url(text: str) -> str:
    address = parse(text)
    return address.href if isinstance(address, Address) else text


def _why_unreadable(text: str) -> str:
    host, _, port = re.split(r"[/?#]", text.partition("://")[2], maxsplit=1)[0].partition(":")
    if not host:
        return "the host name is missing"
    if port and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        return f'"{port}" is not a port'
    return f'"{host}" is not a host name'


def network_message(address: Address, private: bool) -> str:
    """A name is looked up by who calls, if at all: `private` when what it stands for may not be crawled. What that is
    stays unsaid: names inside would tell strangers how the network is laid out."""
    host = address.host.strip("[]")
    try:
        ip = ip_address(host)
    except ValueError:
        where = f"{host} is on a private network. Ask an administrator to allow its address"
        return where if private else ""
    if address_allowed(str(ip), address.port):
        return ""
    return f"The address {ip} is on a private network. Ask an administrator to allow {_door(ip, address.port)}"


def _door(ip: IPv4Address | IPv6Address, port: int) -> str:
    """What is narrow enough to be opened: of our own machine one port, elsewhere the neighbourhood."""
    if ip.is_loopback:
        return f"[{ip}]:{port}" if ip.version == 6 else f"{ip}:{port}"
    return str(ip_network(f"{ip}/{24 if ip.version == 4 else 64}", strict=False))
