"""python -m tests.suites [NAME…]: the suites of others, with the table for docs/figures.md."""

import argparse
import sys

from tests.suites import Result, folder_of, suites


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.suites", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(suites())}")
    parser.add_argument("--faults", type=int, default=20, metavar="N", help="how many of each suite are printed")
    options = parser.parse_args()
    unknown = set(options.names) - set(suites())
    if unknown:
        parser.error(f"no suite is called {', '.join(sorted(unknown))}; there are {', '.join(suites())}")
    print("| suite | cases | passed | differences by design |")
    print("| --- | --- | --- | --- |")
    wrong = 0
    for name, suite in suites().items():
        if options.names and name not in options.names:
            continue
        folder = folder_of(suite)
        if folder is None:
            print(f"| {suite.NAME} | NOT RUN | | CLEARINGHOUSE_SUITES names no folder with {suite.FOLDER} |")
            continue
        wrong += _told(suite.NAME, suite.run(folder), options.faults)
    return 1 if wrong else 0


def _told(name: str, result: Result, shown: int) -> int:
    """One row; what is wrong goes to standard error."""
    print(f"| {name} | {result.cases:,} | {result.passed:,} | {'; '.join(result.differences) or 'none'} |")
    for line in result.faults[:shown]:
        print(f"{name}: {line}", file=sys.stderr)
    if len(result.faults) > shown:
        print(f"{name}: and {len(result.faults) - shown} more", file=sys.stderr)
    return len(result.faults)


if __name__ == "__main__":
    sys.exit(main())
