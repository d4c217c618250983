"""A disk with too little space, then full to the last byte, then neither: a tmpfs, a real crawl, real errors (A14)."""

import json

from tests.faults import namespace, space
from tests.proves import proves
from tests.requirements import need


@proves("A14")
def test_a_crawl_waits_while_the_disk_is_full_and_loses_nothing() -> None:
    need("namespaces", namespace.possible(), "no network namespaces can be made here (root, or user namespaces)")
    found = json.loads(namespace.run("tests.faults.space"))
    first, last = found["while_full"]
    assert found["alive"] and first == last < space.PAGES
    assert f"the disk of {found['disk']}/house is full" in found["doctor"]
    assert "damaged" not in found["doctor"], "who reads that moves away what is whole"
    assert "No space: " in found["complained"], "who waits at a terminal must know for what"
    assert found["code"] == 0, found["complained"]
    assert found["run"]["state"] == "finished" and found["run"]["crawled"] == space.PAGES + 1
    assert found["quick"] == [["ok"]]
    assert found["told"][0].startswith("No space: ") and found["told"][-1].startswith("There is space again")
