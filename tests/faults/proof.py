"""The ledger's proof for many houses in one process: python -m tests.faults.proof FOLDER …

Prints one JSON object: folder -> broken invariants, by the product's own check_ledger.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def of_houses(folders: list[Path], environment: dict[str, str], base: Path) -> dict[str, list[str]]:
    command = [sys.executable, "-m", "tests.faults.proof", *map(str, folders)]
    settings = environment | {"DJANGO_SETTINGS_MODULE": "clearinghouse.settings"}
    done = subprocess.run(command, cwd=base, env=settings, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def main(folders: list[str]) -> None:
    os.environ["CLEARINGHOUSE_VAR"] = folders[0]
    import django

    django.setup()
    print(json.dumps({folder: _broken(folder) for folder in folders}))


def _broken(folder: str) -> list[str]:
    from django.db import connections

    from clearinghouse.databases import WEBCRAWL
    from crawler import ledger_check
    from crawler.models import Run

    connection: Any = connections[WEBCRAWL]
    connection.close()
    connection.settings_dict["NAME"] = str(Path(folder) / "webcrawl.sqlite3")
    found = [sentence for run in Run.objects.all() for sentence in ledger_check.faults(run)]
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA integrity_check")
        found += [f"integrity_check: {row[0]}" for row in cursor.fetchall() if row[0] != "ok"]
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
