"""python -m tests.hostile: broken answers, broken documents, bombs and links that lead away, with their figures.

Exit 1 on any fault.
"""

import argparse
import logging
import os
import sys
import time

import django

LARGEST = 300_000_000  # bytes of memory that a worker may take, whatever it is given


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description="Hostile input, and what came of it.")
    parser.add_argument("--responses", type=int, default=5_000, metavar="N", help="broken HTTP answers (default 5000)")
    parser.add_argument("--documents", type=int, default=50_000, metavar="N", help="broken documents (default 50000)")
    parser.add_argument("--links", type=int, default=1_000_000, metavar="N", help="links judged (default 1000000)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other accidents (default 1)")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    logging.disable()
    return report(options)


def report(options: argparse.Namespace) -> int:
    """Run everything and print it; the exit code."""
    from tests.hostile import bombs, fetching, scope
    from tests.hostile import documents as reading

    begun = time.monotonic()
    read = reading.read_broken_documents(options.documents, options.seed)
    print(read.table(), flush=True)
    fetched = fetching.fetch_broken_answers(options.responses, options.seed)
    print(fetched.table(), flush=True)
    most = bombs.memory_at_most()
    print(f"at most {most / 1e6:.0f} MB of memory until here")
    faults = read.faults + fetched.faults
    if fetched.slowest > fetching.DEADLINE + 1:
        faults.append(f"an answer took {fetched.slowest:.2f} s, {fetching.DEADLINE + 1} are allowed")
    if most > LARGEST:
        faults.append(f"{most:,} bytes of memory")
    for blast in bombs.blow_all():
        print(blast, flush=True)
        faults += [blast.fault()] if blast.fault() else []
    if options.links:
        within, astray = scope.judge_links(options.links, options.seed)
        print(f"{options.links:,} links, {within:,} of them would be fetched, {len(astray)} of these wrongly")
        faults += astray[:20]
    print(f"{len(faults)} faults in {time.monotonic() - begun:.0f} s", *faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
