"""python -m tests.oracle: many random graphs, how they were distributed, and the differences found."""

import argparse
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.oracle.figures import Figures
from tests.postgres import NAMES, Server

BASE = Path(__file__).resolve().parents[2]
FIGURES = "figures: "  # begins the last line of a lane


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("--graphs", type=int, default=100, metavar="N", help="how many (default 100)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="another seed, other graphs (default 1)")
    parser.add_argument("--lanes", type=int, default=2, metavar="L", help="processes beside each other (default 2)")
    parser.add_argument("--only", type=int, metavar="SEED", help="one graph by its own seed")
    parser.add_argument("--postgres", action="store_true", help="all databases on a throw-away PostgreSQL")
    parser.add_argument("--lane", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only is not None:
        return _told(examine([options.only], options.postgres))
    seeds = [options.seed * 1_000_000 + number for number in range(options.graphs)]
    if options.lane is not None:
        found, _ = examine(seeds[options.lane :: options.lanes], options.postgres)
        print(FIGURES + json.dumps(found.as_json()))
        return 0
    return _told(_in_lanes(options.lanes))


def _told(found: tuple[Figures, float]) -> int:
    figures, seconds = found
    print(figures.table(seconds))
    return 1 if figures.differ or not figures.sizes else 0


def _in_lanes(lanes: int) -> tuple[Figures, float]:
    """Each lane is a process with databases of its own; what it finds is printed at once."""
    began, figures = time.monotonic(), Figures()
    command = [sys.executable, "-m", "tests.oracle", *sys.argv[1:], "--lanes", str(lanes)]
    processes = [
        subprocess.Popen([*command, "--lane", str(lane)], cwd=BASE, stdout=subprocess.PIPE, text=True)
        for lane in range(lanes)
    ]
    try:
        for process in processes:
            figures.take(_heard(process))
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return figures, time.monotonic() - began


def _heard(process: "subprocess.Popen[str]") -> dict[str, object]:
    assert process.stdout
    told = ""
    for line in process.stdout:
        if line.startswith(FIGURES):
            told = line.removeprefix(FIGURES)
        else:
            print(line, end="", flush=True)
    if process.wait() or not told:
        raise SystemExit(f"a lane broke: exit {process.returncode}")  # its own words stand on stderr
    found: dict[str, object] = json.loads(told)
    return found


def examine(seeds: list[int], on_postgres: bool) -> tuple[Figures, float]:
    with _databases(on_postgres):
        _prepare()
        from .compare import examine as compare

        began, figures = time.monotonic(), Figures()
        for seed in seeds:
            result = compare(seed)
            figures.add(result)
            for sentence in result.differences[:12]:
                print(f"graph {seed}: {sentence}", flush=True)
        return figures, time.monotonic() - began


@contextmanager
def _databases(on_postgres: bool) -> Iterator[None]:
    """Files in the state folder of this process, or a cluster of its own."""
    if not on_postgres:
        yield
        return
    server = Server.installed()
    if server is None:
        raise SystemExit("PostgreSQL is not installed: nothing was compared")
    try:
        os.environ.update({f"CLEARINGHOUSE_{key}": server.url(name) for key, name in NAMES.items()})
        yield
    finally:
        server.stop()


def _prepare() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    os.environ.setdefault("CLEARINGHOUSE_LOG_LEVEL", "ERROR")
    import django

    django.setup()
    from django.core.management import call_command

    call_command("prepare", verbosity=0, stdout=io.StringIO())


if __name__ == "__main__":
    sys.exit(main())
