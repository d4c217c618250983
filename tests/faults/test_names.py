"""Addresses where nobody answers (D1), names that cannot be resolved, and names that lead to another address when they
are asked for again (SSRF, goal 21).

A network and a name server of their own; the short form of 1,000 fetches. `python -m tests.faults.names 1000` inside
`unshare -rmn` is the long one.
"""

import json
from typing import Any

import pytest

from tests.faults import namespace
from tests.requirements import need

FETCHES = 200


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    need("namespaces", namespace.possible(), "no network namespaces can be made here (root, or user namespaces)")
    return json.loads(namespace.run("tests.faults.names", str(FETCHES)))


def test_a_name_that_fails_is_said_to_fail_however_it_does(found: dict[str, Any]) -> None:
    failing = dict(found["failing"])
    assert failing.pop("good.test") == [200, 200]
    names = ("servfail", "nxdomain", "silent", "empty", "circle")
    assert failing == {f"{name}.test": ["dns_failed"] * 2 for name in names}


def test_an_address_where_nobody_answers_cannot_be_connected_to(found: dict[str, Any]) -> None:
    assert found["roads"] == [["connect_failed", True], ["connect_failed", False]]


def test_a_name_that_leads_home_when_asked_again_leads_nowhere(found: dict[str, Any]) -> None:
    looks = found["rebinding"]
    assert looks[0::3] == [["200"]] * 2 and looks[1::3] == [["address_refused"]] * 2
    for both in looks[2::3]:  # a closed door of the public address, and an open one here
        assert set(both) <= {"address_refused", "connect_failed"}
    assert found["visits"] == FETCHES // 2 + 2, "the first look of each, and the good name"
    assert found["canaries"] == [0, 0, 0]
