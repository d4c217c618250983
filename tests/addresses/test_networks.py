"""Which machines the crawler may talk to."""

import ipaddress
from collections.abc import Iterator

import pytest

from clearinghouse.addresses import Address, networks
from clearinghouse.addresses.parsing import parse
from tests import vectors
from tests.proves import proves

PUBLIC = ["8.8.8.8", "93.184.216.34", "172.32.0.0", "100.128.0.0", "2606:4700:4700::1111"]
REFUSED = [
    "127.0.0.1", "10.0.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "::", "::1",
    "::ffff:8.8.8.8", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:0::1", "fec0::1", "fe80::1%eth0",
    "fc00::1", "ff02::1", "3fff::1", "nonsense", "",
]  # fmt: skip


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """The environment as most installations have it; set it, then call networks.forget_settings()."""
    monkeypatch.setenv("CLEARINGHOUSE_ALLOWED_NETWORKS", "")
    monkeypatch.setenv("CLEARINGHOUSE_ALLOWED_PORTS", "")
    networks.forget_settings()
    yield monkeypatch
    monkeypatch.undo()
    networks.forget_settings()


def allow(opened: pytest.MonkeyPatch, text: str) -> None:
    opened.setenv("CLEARINGHOUSE_ALLOWED_NETWORKS", text)
    networks.forget_settings()


@pytest.mark.parametrize("ip", PUBLIC)
def test_public_addresses_are_allowed(opened: pytest.MonkeyPatch, ip: str) -> None:
    assert networks.address_allowed(ip, 80)


@proves("rule 14")
@pytest.mark.parametrize("ip", REFUSED)
def test_all_others_are_refused(opened: pytest.MonkeyPatch, ip: str) -> None:
    assert not networks.address_allowed(ip, 80)


@proves("rule 14")
def test_an_opened_network_is_open_on_every_port(opened: pytest.MonkeyPatch) -> None:
    allow(opened, "10.1.0.0/16, 192.168.7.9:9200, [fd00::7]:8080")
    assert networks.address_allowed("10.1.2.3", 22)
    assert networks.port_allowed("10.1.2.3", 22)
    assert not networks.address_allowed("10.2.0.1", 80)
    assert networks.address_allowed("::ffff:10.1.2.3", 80)
    assert networks.address_allowed("192.168.7.9", 9200)
    assert networks.port_allowed("192.168.7.9", 9200)
    assert not networks.address_allowed("192.168.7.9", 80)
    assert networks.address_allowed("fd00::7", 8080)
    assert networks.port_allowed("[fd00::7]", 8080)


@proves("rule 14")
@pytest.mark.parametrize(
    ("port", "allowed"), [(80, True), (443, True), (8765, True), (22, False), (6379, False), (9000, False)]
)
def test_elsewhere_only_the_ports_of_the_web(opened: pytest.MonkeyPatch, port: int, allowed: bool) -> None:
    assert networks.port_allowed("example.org", port) is allowed


@pytest.mark.parametrize("text", ["nonsense", "10.0.0.0/99", "a.org:80"])
def test_a_setting_that_cannot_be_read_stops_the_process(opened: pytest.MonkeyPatch, text: str) -> None:
    allow(opened, text)
    with pytest.raises(SystemExit, match="CLEARINGHOUSE_ALLOWED_NETWORKS"):
        networks.address_allowed("10.0.0.1", 80)


@proves("goal 21")
def test_addresses_of_the_ssrf_vectors(opened: pytest.MonkeyPatch) -> None:
    table = vectors.table("ssrf", "vectors.json")
    assert [row["ip"] for row in table["ips_must_block"] if networks.address_allowed(row["ip"], 80)] == []
    assert [ip for ip in table["ips_must_allow"] if not networks.address_allowed(ip, 80)] == []
    for text in table["disallowed_ranges_sentry"]:
        network = ipaddress.ip_network(text)
        assert not networks.address_allowed(str(network[0]), 80), text
        assert not networks.address_allowed(str(network[-1]), 80), text


@proves("goal 21")
def test_urls_of_the_ssrf_vectors(opened: pytest.MonkeyPatch) -> None:
    """The host that is checked is the host the vector says is reached."""
    for row in vectors.table("ssrf", "vectors.json")["urls"]:
        address, reaches = parse(row["url"]), row["reaches"]
        if reaches is None or row["url"].startswith(("//", "\\")):
            assert not isinstance(address, Address), row
        elif isinstance(address, Address) and address.host.strip("[]").replace(".", "").isdigit():
            assert address.host in reaches, row
            assert not networks.address_allowed(address.host, 80), row
        else:
            assert isinstance(address, Address), row
