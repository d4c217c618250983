"""Inside a namespace: every door, led by names that are public once and private from then on (threat T2)."""

import json
import sys

import django

from tests.faults.namespace import AAAA, A, NameServer, Reply, settle
from tests.sites.canary import Canary

PUBLIC = "93.184.215.14"  # an address of the Internet, which is this machine here
moved: set[str] = set()  # names that have changed their mind


def zone(name: str, kind: int, before: int) -> Reply:
    word = name.split(".")[0]
    if word.startswith("mixed"):
        return [(A, "127.0.0.1")] if kind == A else [(AAAA, "::1"), (AAAA, "::ffff:127.0.0.1")]
    if kind != A:
        return []
    return [(A, "127.0.0.1" if word in moved else PUBLIC)]


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
