"""Addresses where nobody answers (D1), names that cannot be resolved, and names that lead to another address when they
are asked for again (SSRF, goal 21).

A network and a name server of their own; the short form of 1,000 fetches. `python -m tests.faults.names 1000` inside
`unshare -rmn` is the long one.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from crawler.values import NO_NAME_SERVER
from tests.faults import namespace, resolving
from tests.faults.house import House
from tests.proves import proves
from tests.requirements import need

FETCHES = 200


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    need("namespaces", namespace.possible(), "no network namespaces can be made here (root, or user namespaces)")
    return json.loads(namespace.run("tests.faults.names", str(FETCHES)))


@proves("D2")
def test_a_name_that_fails_is_said_to_fail_however_it_does(found: dict[str, Any]) -> None:
    failing = dict(found["failing"])
    assert failing.pop("good.test") == [200, 200]
    names = ("servfail", "nxdomain", "silent", "empty", "circle")
    assert failing == {f"{name}.test": ["dns_failed"] * 2 for name in names}


@proves("D2")
def test_a_silent_name_server_is_told_from_an_unknown_name(found: dict[str, Any]) -> None:
    details = {name.split(".")[0]: set(said) for name, said in found["details"].items()}
    assert details["servfail"] == details["silent"] == {NO_NAME_SERVER}
    assert details["nxdomain"] == details["empty"] == {"the host name is unknown"}


@proves("D2")
def test_a_site_whose_name_server_fails_for_a_moment_is_crawled_and_an_unknown_one_fails_at_once(
    bare: House, tmp_path: Path
) -> None:
    need("namespaces", namespace.possible(), "no network namespaces can be made here (root, or user namespaces)")
    house = bare.copy(tmp_path / "var")
    found = json.loads(namespace.run("tests.faults.resolving", str(house.var)))
    hiccup, nowhere = f"http://{resolving.HICCUP}:{resolving.PORT}/", f"http://{resolving.NOWHERE}:{resolving.PORT}/"
    assert found["ledger"] == [
        [hiccup, "crawled", "", ""],
        [f"{hiccup}a", "crawled", "", ""],
        [nowhere, "failed", "dns_failed", "the site did not answer"],
    ]
    assert found["asked"] <= 2, "once by libcurl, and once by us to know why"


def test_an_address_where_nobody_answers_cannot_be_connected_to(found: dict[str, Any]) -> None:
    assert found["roads"] == [["connect_failed", True], ["connect_failed", False]]


@proves("rule 14", "goal 21")
def test_a_name_that_leads_home_when_asked_again_leads_nowhere(found: dict[str, Any]) -> None:
    looks = found["rebinding"]
    assert looks[0::3] == [["200"]] * 2 and looks[1::3] == [["address_refused"]] * 2
    for both in looks[2::3]:  # a closed door of the public address, and an open one here
        assert set(both) <= {"address_refused", "connect_failed"}
    assert found["visits"] == FETCHES // 2 + 2, "the first look of each, and the good name"
    assert found["canaries"] == [0, 0, 0]
