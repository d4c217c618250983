"""Inside a namespace: every door, led by names that are public once and private from then on (threat T2)."""

import json
import socket
import sys
import threading
from contextlib import suppress

import django

from tests.faults.namespace import AAAA, A, NameServer, Reply, settle

PUBLIC = "93.184.215.14"  # an address of the Internet, which is this machine here
moved: set[str] = set()  # names that have changed their mind


def zone(name: str, kind: int, before: int) -> Reply:
    word = name.split(".")[0]
    if word.startswith("mixed"):
        return [(A, "127.0.0.1")] if kind == A else [(AAAA, "::1"), (AAAA, "::ffff:127.0.0.1")]
    if kind != A:
        return []
    return [(A, "127.0.0.1" if word in moved else PUBLIC)]


class Canary:
    """Sits at the same port as the site, on the addresses nobody may reach."""

    def __init__(self, port: int) -> None:
        self.visits = 0
        for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            door = socket.create_server((address, port), family=family)
            threading.Thread(target=self._count, args=(door,), daemon=True).start()

    def _count(self, door: socket.socket) -> None:
        with suppress(OSError):
            while True:
                door.accept()[0].close()
                self.visits += 1


def main() -> None:
    django.setup()
    settle(f"{PUBLIC}/32")
    NameServer(zone)
    from tests.security.doors import DOORS, furnish
    from tests.sites.misbehaving import Site

    found: dict[str, list[tuple[int, str]]] = {}
    with Site(PUBLIC) as site:
        furnish(site)
        canary = Canary(site.port)
        for number, (name, door) in enumerate(DOORS.items()):
            word = f"door{number}"
            looks = []
            for host in (f"{word}.test", f"{word}.test", f"mixed{number}.test"):
                before = len(site.log)
                said = str(door(f"http://{host}:{site.port}", site))
                asked = [one for one in site.log[before:] if one.headers["host"].startswith(host)]
                looks.append((len(asked), said))
                moved.add(word)
            found[name] = looks
    sys.stdout.write(json.dumps({"doors": found, "visits": canary.visits}))


if __name__ == "__main__":
    main()
