"""python -m tests.recorded [--write] [--short] [PART…]: says whether what was recorded equals what is."""

import argparse
import sys
import time
from typing import Any

from tests.recorded import files
from tests.recorded.differences import differences
from tests.recorded.parts import PARTS, Part, named, take


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.recorded", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(part.name for part in PARTS))
    parser.add_argument("--write", action="store_true", help="write the present state down, in place of what was")
    parser.add_argument("--short", action="store_true", help="only what is cheap enough for the suite")
    options = parser.parse_args()
    found: list[str] = []

    def each(part: Part, now: dict[str, Any]) -> None:
        if options.write:
            files.write(part.name, now)
        seconds = time.monotonic() - begun
        lines = list(differences(files.read(part.name), now))
        print(f"{part.name:<15} {_count(lines)}  ({part.tells}; {seconds:.0f} s)", flush=True)
        for line in lines:
            print(f"  {line}", flush=True)
        found.extend(lines)

    begun = time.monotonic()
    take(named(options.parts, options.short), each, anew=options.write)
    print("What was recorded differs from what is." if found else "What was recorded equals what is.")
    return 1 if found else 0


def _count(lines: list[str]) -> str:
    return f"{len(lines)} differ" if lines else "equal"


if __name__ == "__main__":
    sys.exit(main())
