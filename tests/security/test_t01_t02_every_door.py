"""Threats T1 and T2: whoever chooses an address, and by whichever door it comes in, no private machine is asked.

The addresses themselves, and the doors inside a page (frames, base, refresh …): tests/crawler/test_private_networks.
"""

import json
from pathlib import Path

import pytest

from tests import vectors
from tests.crawler.sites.test_private_networks import Canary, canary, hosts, site
from tests.faults import namespace
from tests.faults.conftest import bare
from tests.faults.house import House
from tests.proves import proves
from tests.requirements import need
from tests.security.doors import DOORS, arrivals, furnish
from tests.sites.misbehaving import Site

__all__ = ["bare", "canary", "site"]
pytestmark = pytest.mark.django_db(databases="__all__")
REFUSED = ("address_refused", "not allowed", "network", "unknown", "dns_failed", "cannot be reached", "robots")
SAYS_NOTHING = ("Fetch it now, robots.txt",)  # without rules it looks at the page of the allowed site


def refused(name: str, said: str) -> bool:
    return name in SAYS_NOTHING or any(word in said for word in REFUSED)


@pytest.mark.parametrize("name", DOORS)
def test_t1_every_door_leads_out_and_none_leads_in(name: str, site: Site, canary: Canary) -> None:
    """Out first: a door that asks nobody would prove nothing."""
    furnish(site)
    assert any("robots" not in asked.target or "robots" in name for asked in arrivals(site, name, site.url("")))
    for host in hosts() if name == "Fetch it now" else hosts()[:: len(hosts()) // 5]:
        said = str(DOORS[name](f"http://{host}:{canary.port}", site))
        assert canary.visits == 0, (host, said)
        assert refused(name, said), (host, said)


@proves("goal 21")
def test_t1_no_address_of_the_vectors_is_connected_to_by_any_door(bare: House, tmp_path: Path) -> None:
    """In a network of its own, where all addresses are this machine: each tenth place at each door, all over all."""
    need("namespaces", namespace.possible(), "no network namespaces can be made here (root, or user namespaces)")
    vectors.folder("ssrf")
    settings = {"CLEARINGHOUSE_VAR": str(bare.copy(tmp_path / "var").var), "CLEARINGHOUSE_ALLOWED_PORTS": "1-65535"}
    found = json.loads(namespace.run("tests.security.every_address", "10", **settings))
    assert (found["places"], found["doors"]) == (45 + 37, len(DOORS)) and found["opened"] >= 130
    assert found["through"] >= 60, "a program without a guard gets nowhere either: the test proves nothing"
    assert found["led_in"] == []


def test_t2_no_door_leads_in_when_a_name_changes_its_mind(bare: House, tmp_path: Path) -> None:
    """In a network of its own: each name is public when it is looked up first, and leads to this machine afterwards."""
    need("namespaces", namespace.possible(), "no network namespaces can be made here (root, or user namespaces)")
    settings = {"CLEARINGHOUSE_VAR": str(bare.copy(tmp_path / "var").var), "CLEARINGHOUSE_ALLOWED_PORTS": "1-65535"}
    found = json.loads(namespace.run("tests.security.rebinding", **settings))
    assert list(found["doors"]) == list(DOORS)
    for name, (first, second, mixed) in found["doors"].items():
        assert first[0] > 0, (name, first)
        assert second[0] == 0 and refused(name, second[1]), (name, second)
        assert mixed[0] == 0, (name, mixed)
    assert found["visits"] == 0
