"""A CSV of crawl points, read, shown and taken back, while somebody else writes a note again and again; then the same
with one that changes as many crawl points.

python -m tests.bench.imports [--lines 100000]

Each step is a real `import_steps.carry_out` in a process of its own, as an RQ worker calls it. The other person is a
second process; the longest of the waits counts. The smaller sizes say what a line costs in a shorter file.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from tests import transactions
from tests.bench import ground, machine
from tests.bench.crawl import PYTHON, environment, folder, manage, options_of

WAIT, GROWTH = 1.0, 1.5
SMALL = (500, 2_000, 10_000)
ASKED = "taken in by the request"


def work(lines: int) -> None:
    """In a prepared house: asked for, read, shown, taken back; prints what each took."""
    import django

    django.setup()
    from clearinghouse.library import services as library
    from crawlpoints.imports import import_steps as steps
    from crawlpoints.models import Import

    document = library.add_document(f"A list of {lines}")
    told: dict[str, list[float]] = {}
    lasted: list[tuple[float, float]] = []
    transactions.watch(lambda clock, processor: lasted.append((clock, processor)))

    def timed(what: str, do: Callable[[], Import | None]) -> Import:
        began, cpu, before = time.perf_counter(), time.process_time(), len(lasted)
        asked = do() or Import.objects.latest("pk")
        while (row := Import.objects.get(pk=asked.pk)).state in steps.WORKING and what != ASKED:
            steps.carry_out(row.pk)
        longest = [max(one[kind] for one in lasted[before:]) for kind in (0, 1)]
        told[what] = [time.perf_counter() - began, time.process_time() - cpu, *longest]
        return row

    def ask(depth: int, at_once: bool = False) -> Import:
        rows = (
            f"https://site{at % 50}.example.org/part-{at // 100}/page-{at}.html,{depth},line {at}\n"
            for at in range(lines)
        )
        return steps.ask(document, ["url,depth_limit,note\n", *rows], "bench", at_once=at_once)

    asked = timed(ASKED, lambda: ask(3))
    timed("read by the worker", lambda: None)
    timed("shown, and its history written", lambda: steps.confirm(asked))
    taken = timed("taken back, and its history written", lambda: steps.take_back(asked))
    timed("read and shown again", lambda: ask(3, at_once=True))
    changed = timed("changes of all read, shown, and their history", lambda: ask(4, at_once=True))
    back = timed("these taken back, and their history", lambda: steps.take_back(changed))
    assert changed.counts["change"] == taken.told["back"] == back.told["back"] == lines
    print(json.dumps(told))


def write() -> None:
    """Somebody else: a note, again and again; prints how long each took."""
    import django

    django.setup()
    from clearinghouse.library import services as library
    from crawlpoints.documents.document_notes import add_note

    document = library.add_document("Another document")
    while True:
        began = time.perf_counter()
        add_note(document, "hello")
        print(time.perf_counter() - began, flush=True)
        time.sleep(0.02)


def measured(var: Path, lines: int) -> tuple[dict[str, list[float]], list[float]]:
    command = [PYTHON, "-m", "tests.bench.imports"]
    options = {
        "env": environment(var) | {"CLEARINGHOUSE_LOG_LEVEL": "ERROR"},
        "cwd": machine.BASE,
        "stdout": subprocess.PIPE,
        "text": True,
    }
    with subprocess.Popen([*command, "--write", "1"], **options) as other:
        try:
            done = subprocess.run([*command, "--work", str(lines)], check=True, **options)
        finally:
            other.kill()
        waits = [float(line) for line in other.communicate()[0].split()]
    return json.loads(done.stdout), waits


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(arguments, __doc__ or "", lines=100_000, work=0, write=0)
    if options.work:
        return work(options.work)
    if options.write:
        return write()
    sizes = [*(size for size in SMALL if size < options.lines), options.lines]
    with folder() as place:
        ground.found(place / "house")
        manage(place / "house", "prepare")
        found = {lines: measured(place / "house", lines) for lines in sizes}
    report(found)
    return None


def report(found: dict[int, tuple[dict[str, list[float]], list[float]]]) -> None:
    rows: list[tuple[object, ...]] = []
    for lines, (steps, _) in found.items():
        for what, (wall, cpu, longest, of_it) in steps.items():
            rows.append(
                (
                    f"{lines:,}",
                    what,
                    f"{wall:.1f}",
                    f"{cpu:.1f}",
                    f"{1000 * cpu / lines:.2f}",
                    f"{1000 * longest:.0f} ({1000 * of_it:.0f})",
                    "",
                )
            )
    costs = {lines: sum(step[1] for step in steps.values()) / lines for lines, (steps, _) in found.items()}
    ratio = costs[max(costs)] / costs[min(costs)]
    rows.append(("", "a line of the longest, of the shortest", "", "", f"{ratio:.2f} ×", "",
                 f"≤ {GROWTH} × {machine.kept(ratio <= GROWTH)}"))  # fmt: skip
    heads = ("lines", "step", "seconds", "of the processor", "ms a line", "longest transaction, ms (of the processor)",
             "budget")  # fmt: skip
    machine.table("An import of crawl points", heads, rows)
    others = [
        (f"{lines:,}", len(waits), f"{1000 * median(waits):.0f}", f"{1000 * max(waits):.0f}",
         f"≤ {1000 * WAIT:.0f} ms {machine.kept(max(waits) <= WAIT)}")
        for lines, (_, waits) in found.items() if waits
    ]  # fmt: skip
    machine.table(
        "Somebody else writes notes meanwhile", ("lines", "notes", "median ms", "longest ms", "budget"), others
    )


if __name__ == "__main__":
    main(sys.argv[1:])
