"""Networks: which machines and ports the crawler may talk to. Refused unless public, or opened by the environment.

`ipaddress.is_global` is no guard (multicast, NAT64, 6to4 and others count as global), so the ranges stand here.
"""

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import NamedTuple

from clearinghouse import env

Ip = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_REFUSED_V4 = [
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link local, cloud metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # IETF protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarking
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
]
_UNICAST_V6 = IPv6Network("2000::/3")  # everything else (mapped, NAT64, local, site local, multicast …) is refused
_REFUSED_V6 = [
    IPv6Network(text)
    for text in (
        "2001::/23",  # IETF protocol assignments: Teredo, benchmarking, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "3fff::/20",  # documentation
    )
]


class _Settings(NamedTuple):
    networks: tuple[Network, ...]
    services: frozenset[tuple[Ip, int]]  # address:port
    ports: tuple[range, ...]


def address_allowed(ip: str, port: int) -> bool:
    """May the crawler connect to this address? Asked for the address actually connected to."""
    try:
        address = ip_address(ip.strip("[]"))
    except ValueError:
        return False
    return _public(address) or _opened(_unmapped(address), port)


def connection_allowed(ip: str, port: int) -> bool:
    """The last word, said when a socket is opened: both the address and the port, whatever was checked before."""
    return address_allowed(ip, port) and port_allowed(ip, port)


def port_allowed(host: str, port: int) -> bool:
    """May this port be asked for? Known before any DNS: a literal address that is opened brings its own ports."""
    if any(port in ports for ports in _settings().ports):
        return True
    name = host.rstrip(".").lower()
    literal = "127.0.0.1" if name == "localhost" or name.endswith(".localhost") else host.strip("[]")
    try:
        return _opened(_unmapped(ip_address(literal)), port)
    except ValueError:
        return False


def read_settings() -> None:
    """Before anything is begun; raises SystemExit with a sentence about a setting that cannot be meant."""
    _settings()


def forget_settings() -> None:
    """Read the environment again; for tests that change it."""
    _settings.cache_clear()


@lru_cache(maxsize=1)
def _settings() -> _Settings:
    networks: list[Network] = []
    services: set[tuple[Ip, int]] = set()
    for word in env.words("ALLOWED_NETWORKS"):
        service = _service(word)
        if service is not None:
            services.add(service)
            continue
        try:
            networks.append(ip_network(word, strict=False))
        except ValueError:
            raise SystemExit(
                f"CLEARINGHOUSE_ALLOWED_NETWORKS: {word!r} is neither a network nor address:port"
            ) from None
    return _Settings(tuple(networks), frozenset(services), tuple(_ports(word) for word in env.words("ALLOWED_PORTS")))


def _service(word: str) -> tuple[Ip, int] | None:
    host, colon, port = word.rpartition(":")
    if not colon or not port.isdigit() or (":" in host and not host.startswith("[")):
        return None
    try:
        return ip_address(host.strip("[]")), int(port)
    except ValueError:
        return None


def _ports(word: str) -> range:
    first, _, last = word.partition("-")
    if not first.isdigit() or not (last or first).isdigit():
        raise SystemExit(f"CLEARINGHOUSE_ALLOWED_PORTS: {word!r} is neither a port nor a range like 8000-8999")
    return range(int(first), int(last or first) + 1)


def _unmapped(address: Ip) -> Ip:
    """An IPv4 address in IPv6 clothes is the IPv4 machine."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _opened(address: Ip, port: int) -> bool:
    settings = _settings()
    return (address, port) in settings.services or any(address in network for network in settings.networks)


def _public(address: Ip) -> bool:
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _REFUSED_V4)
    return address in _UNICAST_V6 and not any(address in network for network in _REFUSED_V6)
