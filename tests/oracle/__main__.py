"""python -m tests.oracle: many random graphs, how they were distributed, and the differences found."""

import argparse
import io
import os
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .compare import Result

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
os.environ.setdefault("CLEARINGHOUSE_LOG_LEVEL", "ERROR")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("--graphs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="one graph by its own seed")
    options = parser.parse_args()
    _prepare()
    from .compare import examine

    seeds = [options.only] if options.only is not None else _seeds(options.seed, options.graphs)
    began = time.monotonic()
    results: list[Result] = []
    for seed in seeds:
        results.append(examine(seed))
        for sentence in results[-1].differences[:12]:
            print(f"graph {seed}: {sentence}", flush=True)
    print(distribution(results, time.monotonic() - began))
    return 1 if any(result.differences for result in results) else 0


def _seeds(seed: int, graphs: int) -> list[int]:
    return [seed * 1_000_000 + number for number in range(graphs)]


def _prepare() -> None:
    import django

    django.setup()
    from django.core.management import call_command

    call_command("prepare", verbosity=0, stdout=io.StringIO())


def distribution(results: "list[Result]", seconds: float) -> str:
    """The graphs by kind: what a figure of differences is worth."""
    counted = Counter[str]()
    for result in results:
        world = result.world
        documents = world.documents
        counted["redirects"] += result.redirects
        counted["several crawl points"] += any(len(document.points) > 1 for document in documents)
        counted["several documents"] += len(documents) > 1
        counted["several instances"] += world.instances > 1
        counted["killed and resumed"] += result.killed > 0
        counted["maxima"] += world.limited
        counted["excludes"] += any(document.excludes for document in documents)
        counted["failures"] += any(node.status >= 400 for node in world.nodes.values())
        counted["robots.txt"] += bool(world.robots)
        counted["nofollow"] += any(n.nofollow or any(link[1] for link in n.links) for n in world.nodes.values())
        counted["crawled twice"] += world.twice
    sizes = sorted(len(result.world.nodes) for result in results)
    lines = [f"{name:<22} {count:>5}  {count / len(results):4.0%}" for name, count in counted.items()]
    lines.insert(0, f"{'graphs':<22} {len(results):>5}  pages {sizes[0]}..{sizes[-1]}, median {sizes[len(sizes) // 2]}")
    lines.append(f"{'kills':<22} {sum(result.killed for result in results):>5}")
    lines.append(f"{'URLs compared':<22} {sum(result.urls for result in results):>5}")
    lines.append(f"{'graphs that differ':<22} {sum(bool(r.differences) for r in results):>5}  in {seconds:.0f} s")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
