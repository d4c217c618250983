"""Inside a namespace: every address and spelling of the SSRF vectors at every door (threat T1, goal 21).

All addresses there are, of both versions, are this machine here: whatever a door connects to is heard. The vectors
are CLEARINGHOUSE_VECTORS; `python -m tests.security.every_address 1` inside `unshare -rmn` is the whole table, another
number N each N-th place at each door, and over all doors every place.
"""

import json
import socket
import sys
import threading
from collections import Counter
from contextlib import suppress

import django

from clearinghouse.addresses import Address
from clearinghouse.addresses.parsing import parse, resolve
from tests import vectors
from tests.faults.namespace import A, NameServer, Reply, ip, settle
from tests.flow.house import until

SITE = "93.184.215.14"


def zone(name: str, kind: int, before: int) -> Reply:
    return [(A, "127.0.0.1")] if kind == A else []


class Ear:
    """Listens at one port of all addresses."""

    def __init__(self, port: int) -> None:
        self.heard: list[str] = []
        for family, every in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
            door = socket.socket(family)
            door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                door.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            door.bind((every, port))
            door.listen(100)
            threading.Thread(target=self._listen, args=(door,), daemon=True).start()

    def _listen(self, door: socket.socket) -> None:
        while True:
            connection, _ = door.accept()
            self.heard.append(str(connection.getsockname()[0]))
            connection.close()


def places() -> list[str]:
    """Origins as an attacker would write them, each to be led to with a path behind it."""
    table = vectors.table("ssrf", "vectors.json")
    texts = [f"[{row['ip']}]" if ":" in row["ip"] else row["ip"] for row in table["ips_must_block"]]
    return [f"http://{text}" for text in texts] + [row["url"].rstrip("/") for row in table["urls"]]


def ports(found: list[str]) -> set[int]:
    read = (parse(resolve("http://a.example/", f"{place}/")) for place in found)
    return {address.port for address in read if isinstance(address, Address)}


def reachable(found: list[str]) -> int:
    """To how many of them a program without a guard gets through: else the silence would prove nothing."""
    count = 0
    for place in found:
        address = parse(f"{place}/")
        if isinstance(address, Address):
            with suppress(OSError), socket.create_connection((address.host.strip("[]"), address.port), timeout=2):
                count += 1
    return count


def main(step: int) -> None:
    django.setup()
    settle(f"{SITE}/32")
    ip("route", "add", "local", "0.0.0.0/0", "dev", "lo")
    ip("-6", "route", "add", "local", "::/0", "dev", "lo")
    NameServer(zone)
    from tests.security.doors import DOORS, furnish
    from tests.sites.misbehaving import Site

    found = places()
    ears = [Ear(port) for port in sorted(ports(found))]
    through = reachable(found)
    until(lambda: sum(len(ear.heard) for ear in ears) >= through, "each ear has heard who got through")
    for ear in ears:
        ear.heard.clear()
    said: Counter[str] = Counter()
    led_in: list[tuple[str, str]] = []
    with Site(SITE) as site:
        furnish(site)
        for number, (name, door) in enumerate(DOORS.items()):
            for place in found[number % step :: step]:
                said[f"{name}: {door(place, site)}"] += 1
                if any(ear.heard for ear in ears):
                    led_in.append((name, place))
                    for ear in ears:
                        ear.heard.clear()
    told = {"places": len(found), "doors": len(DOORS), "opened": said.total(), "through": through, "led_in": led_in}
    sys.stdout.write(json.dumps(told | {"said": said}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
