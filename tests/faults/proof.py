"""The ledger's proof for many houses in one process: python -m tests.faults.proof DATABASE …

Prints one JSON object: WebCrawl database -> broken invariants, by the product's own check_ledger.
"""

import json
import subprocess
import sys
from typing import Any

from tests.faults.house import BASE, House


def of_houses(houses: list[House]) -> dict[str, list[str]]:
    command = [sys.executable, "-m", "tests.faults.proof", *(house.webcrawl for house in houses)]
    settings = houses[0].environment | {"DJANGO_SETTINGS_MODULE": "clearinghouse.settings"}
    done = subprocess.run(command, cwd=BASE, env=settings, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def main(databases: list[str]) -> None:
    import django

    django.setup()
    print(json.dumps({name: _broken(name) for name in databases}))


def _broken(name: str) -> list[str]:
    from django.db import connections

    from clearinghouse.database.aliases import WEBCRAWL
    from crawler.ledger import ledger_check
    from crawler.models import Run

    connection: Any = connections[WEBCRAWL]
    connection.close()
    connection.settings_dict["NAME"] = name
    found = [sentence for run in Run.objects.all() for sentence in ledger_check.faults(run)]
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA integrity_check")
            found += [f"integrity_check: {row[0]}" for row in cursor.fetchall() if row[0] != "ok"]
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
