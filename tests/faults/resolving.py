"""Inside a namespace: a whole crawl of sites whose name server is silent for a moment, or knows no such name (D2)."""

import json
import sys
from pathlib import Path

from tests.faults.house import House
from tests.faults.namespace import NXDOMAIN, SERVFAIL, A, NameServer, Reply, settle
from tests.sites.graph import Page, serve

HICCUP, NOWHERE = "hiccup.test", "nowhere.test"
PORT = 8080
FAILURES = 3  # of the name server, for each kind of address: more than libcurl's look and ours


def zone(name: str, kind: int, before: int) -> Reply:
    if name != HICCUP:
        return NXDOMAIN
    if before < FAILURES:
        return SERVFAIL
    return [(A, "127.0.0.1")] if kind == A else []


def main(var: Path) -> None:
    settle()
    server = NameServer(zone)
    house = House(var)
    for name in (HICCUP, NOWHERE):
        document = house.manage("add_document", name)["doc_id"]
        house.manage("add_crawl_point", str(document), f"http://{name}:{PORT}/", "--depth", "2")
    with serve({"/": Page(["/a"]), "/a": Page()}, port=PORT):
        run = house.manage("crawl", "--speed", "fast")
    ledger = house.rows("SELECT url, outcome, reason, detail FROM ledger ORDER BY url")
    asked = sum(count for (name, kind), count in server.asked.items() if name == NOWHERE and kind == A)
    sys.stdout.write(json.dumps({"run": run, "ledger": ledger, "asked": asked}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
