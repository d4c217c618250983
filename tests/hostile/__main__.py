"""python -m tests.hostile: broken documents, answers and addresses, bombs, and links that lead away, with figures.

Each part can be run alone (--only), within so many minutes (--minutes); documents are read by all cores, and a line of
the table stands for each part. Exit 1 on any fault; a part that its minutes cut short says so, and how far it came.
"""

import argparse
import logging
import os
import sys
import time
from collections.abc import Callable

import django

LARGEST = 300_000_000  # bytes of memory that a worker may take, whatever it is given
PARTS = ("documents", "responses", "addresses", "bombs", "links")
Part = tuple[str, list[str]]  # what the table says of it, and its faults


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description="Hostile input, and what came of it.")
    parser.add_argument("--only", choices=PARTS, action="append", help="only this part; may be repeated")
    parser.add_argument("--responses", type=int, default=5_000, metavar="N", help="broken HTTP answers (default 5000)")
    parser.add_argument("--documents", type=int, default=50_000, metavar="N", help="broken documents (default 50000)")
    parser.add_argument("--addresses", type=int, default=100_000, metavar="N", help="broken URLs (default 100000)")
    parser.add_argument("--links", type=int, default=1_000_000, metavar="N", help="links judged (default 1000000)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other accidents (default 1)")
    parser.add_argument("--minutes", type=float, default=60.0, metavar="M", help="end each part after so many")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), metavar="N", help="that read documents")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    logging.disable()
    return report(options)


def report(options: argparse.Namespace) -> int:
    """Run what is asked for and print it; the exit code."""
    parts: dict[str, Callable[[argparse.Namespace], Part]] = {
        "documents": _documents, "responses": _responses, "addresses": _addresses, "bombs": _bombs, "links": _links
    }  # fmt: skip
    begun, faults = time.monotonic(), []
    for name in options.only or PARTS:
        told, found = parts[name](options)
        print(told, flush=True)
        faults += found
    print(f"{len(faults)} faults in {time.monotonic() - begun:.0f} s", *faults, sep="\n")
    return 1 if faults else 0


def _documents(options: argparse.Namespace) -> Part:
    from tests.hostile import documents

    figures = documents.read_by_many(options.documents, options.seed, options.minutes * 60, options.processes)
    told = f"{figures.table()}\nat most {figures.memory / 1e6:.0f} MB of memory for one of {options.processes} readers"
    faults = [f"{figures.memory:,} bytes of memory for documents"] if figures.memory > LARGEST else []
    return told + _cut(figures.read, options.documents), figures.faults + faults


def _responses(options: argparse.Namespace) -> Part:
    from tests.hostile import bombs, fetching

    figures = fetching.fetch_broken_answers(options.responses, options.seed, options.minutes * 60)
    faults, most = list(figures.faults), bombs.memory_at_most()
    if figures.slowest > fetching.DEADLINE + 1:
        faults.append(f"an answer took {figures.slowest:.2f} s, {fetching.DEADLINE + 1} are allowed")
    if most > LARGEST:
        faults.append(f"{most:,} bytes of memory for answers")
    told = f"{figures.table()}\nat most {most / 1e6:.0f} MB of memory until here"
    return told + _cut(figures.sent, options.responses), faults


def _addresses(options: argparse.Namespace) -> Part:
    from tests.hostile import addresses

    figures = addresses.read_many(options.addresses, options.seed, options.minutes * 60)
    return figures.table() + _cut(figures.read, options.addresses), figures.faults[:20]


def _bombs(options: argparse.Namespace) -> Part:
    from tests.hostile import bombs

    blasts = list(bombs.blow_all())
    return "\n".join(map(str, blasts)), [blast.fault() for blast in blasts if blast.fault()]


def _links(options: argparse.Namespace) -> Part:
    from tests.hostile import scope

    judged, within, astray = scope.judge_links(options.links, options.seed, options.minutes * 60)
    told = f"{judged:,} links judged, {within:,} of them would be fetched, {len(astray)} of these wrongly"
    return told + _cut(judged, options.links), astray[:20]


def _cut(done: int, wanted: int) -> str:
    return "" if done >= wanted else f"\nONLY {done:,} of {wanted:,}: the minutes were over"


if __name__ == "__main__":
    sys.exit(main())
