"""make bench: the budgets, measured here and now, each beside its peer.

python -m tests.bench [--postgres] [NAME…] [options of the measurements, like --pages 500]

With --postgres all databases are on a throw-away PostgreSQL.

Each measurement is a process of its own. A missed budget stands in its table; only a measurement that breaks fails.
"""

import subprocess
import sys
from contextlib import nullcontext

from tests.bench import ground, machine

ORDER = (
    "libraries", "crawl", "orders", "growth", "instances", "slow_hosts", "documents", "screens", "crowd", "imports",
    "propagation", "propagation_memory", "relevance", "search", "on_postgres", "million",
)  # fmt: skip
POSTGRES = "--postgres"
# These have no database, look into its file, or measure both servers themselves.
FILES_ONLY = ("libraries", "imports", "propagation_memory", "relevance", "on_postgres", "million")
# The others need a web server that is faster than what is measured.
TOOLS: dict[str, tuple[str, ...]] = {
    "slow_hosts": (), "imports": (), "propagation_memory": (), "propagation": (), "search": (), "million": (),
}  # fmt: skip


def main() -> int:
    words = [word for word in sys.argv[1:] if word != POSTGRES]
    names, options = read(words)
    elsewhere = POSTGRES in sys.argv
    if elsewhere:
        names = [name for name in names if name not in FILES_ONLY]
    print("\n".join(f"- {fact}" for fact in machine.facts()), flush=True)
    with ground.on_postgres() if elsewhere else nullcontext():
        broken = [name for name in names if not run(name, options)]
    if broken:
        print(f"\nBROKEN: {', '.join(broken)}")
    return 1 if broken else 0


def read(words: list[str]) -> tuple[list[str], list[str]]:
    """The names before the first option; all of them when there is none."""
    first = next((place for place, word in enumerate(words) if word.startswith("-")), len(words))
    names, options = words[:first], words[first:]
    if unknown := [name for name in names if name not in ORDER]:
        sys.exit(f"There is no measurement {', '.join(unknown)}; there are {', '.join(ORDER)}")
    return names or list(ORDER), options


def run(name: str, options: list[str]) -> bool:
    absent = machine.missing(TOOLS.get(name, ("nginx",)))
    if absent:
        print(f"\nNOT RUN: {name}: {', '.join(absent)} missing on this machine", flush=True)
        return True
    command = [sys.executable, "-m", f"tests.bench.{name}", *options]
    return subprocess.run(command, env=machine.environment(), check=False, cwd=machine.BASE).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
