"""What a propagation takes of memory: its own (anonymous) memory must not grow with the pages of a document.

python -m tests.bench.propagation_memory [--pages 50000] [--part 5]

A document of a fifth of the pages, and one of all of them: small pages with the links a manual has, written as the
results of a crawl. Each is propagated by `manage.py propagate` in a fresh house; the kernel tells every 100 ms what the
process has of its own, and what files it has mapped (/proc/PID/smaps_rollup). The largest figure counts.
"""

import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from tests.bench import ground, machine
from tests.bench.crawl import PYTHON, environment, folder, manage, options_of

GROWTH, MOST_MB = 1.1, 250
BEGAN = datetime(2026, 11, 1, 2, tzinfo=UTC)
AT_ONCE = 500
LINKS = 30
ROOT = "https://manual.example.gov/book/"


class Weight(NamedTuple):
    own: float  # MB, the most
    mapped: float
    seconds: float


def fill(pages: int) -> None:
    """A document whose crawl has stored these pages; called in a process of its own, in a prepared house."""
    import django

    django.setup()
    from clearinghouse.database.digests import digest_of
    from clearinghouse.library import services as library
    from clearinghouse.published.types import HTML
    from crawler.extract import EXTRACTOR, pack_links
    from crawler.models import Excursion, LedgerEntry, PageBody, PageHead, PageVersion, Run
    from crawler.values import Link
    from crawlpoints.models import CrawlPoint, CrawlPointLink

    document = library.add_document("A manual", project="Bench")
    CrawlPointLink.objects.create(
        document=document, crawl_point=CrawlPoint.objects.create(url=ROOT, root=ROOT, depth=99)
    )
    run = Run.objects.create(state="finished", requested_by="bench", created_at=BEGAN, finished_at=BEGAN)
    excursion = Excursion.objects.create(
        run=run, doc_id=document.pk, title=document.title, state="finished", unfinished=False, finished_at=BEGAN
    )
    rnd = random.Random(5)
    words = [f"{chr(97 + one % 26)}{one:x}word" for one in range(20_000)]
    for first in range(0, pages, AT_ONCE):
        versions, bodies = [], []
        for number in range(first, min(first + AT_ONCE, pages)):
            url = f"{ROOT}chapter-{number // 50}/section-{number}.html"
            text = " ".join(rnd.choices(words, k=150))
            others = [rnd.randrange(pages) for _ in range(LINKS)]
            links = [Link(f"{ROOT}chapter-{n // 50}/section-{n}.html", f"Section {n} of the manual", False)
                     for n in others]  # fmt: skip
            body = f"<title>Section {number}</title><p>{text}".encode()
            versions.append(PageVersion(
                run_id=run.pk, doc_id=document.pk, url_key=digest_of(url), url=url, digest=digest_of(body),
                type_id=HTML, extension=".htm", title=f"Section {number} of the manual",
                metas=json.dumps([["description", text[:300]]]), headings="", text=text, language="en",
                links=pack_links(links), size=len(body), extractor=EXTRACTOR, found_at=BEGAN,
            ))  # fmt: skip
            bodies.append(PageBody(digest=digest_of(body), content=body))
        PageVersion.objects.bulk_create(versions)
        PageBody.objects.bulk_create(bodies)
        PageHead.objects.bulk_create(PageHead(doc_id=document.pk, url_key=v.url_key, version_id=v.pk) for v in versions)
        LedgerEntry.objects.bulk_create(
            LedgerEntry(excursion=excursion, doc_id=document.pk, url_key=v.url_key, url=v.url, outcome="crawled",
                        status=200, version_id=v.pk, at=BEGAN)
            for v in versions
        )  # fmt: skip


def weigh(command: Sequence[str], env: dict[str, str]) -> Weight:
    """The most that the process of this command has while it runs."""
    began, own, mapped = time.perf_counter(), 0, 0
    with subprocess.Popen(command, env=env, cwd=machine.BASE, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            now = _rollup(process.pid)
            own, mapped = max(own, now[0]), max(mapped, now[1])
            time.sleep(0.1)
    assert process.returncode == 0, command
    return Weight(own / 1024, mapped / 1024, time.perf_counter() - began)


def _rollup(pid: int) -> tuple[int, int]:
    """KB of its own, and of files."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except (OSError, ProcessLookupError):
        return 0, 0
    found = {name: int(size) for name, size in re.findall(r"^(\w+):\s+(\d+) kB", text, re.MULTILINE)}
    return found.get("Anonymous", 0), found.get("Rss", 0) - found.get("Anonymous", 0)


# With next to no pages of SQLite in memory: what is left is ours.
WITHOUT_CACHE = """
import django
django.setup()
from django.core.management import call_command
from django.db import connections
for one in connections.all():
    options = one.settings_dict["OPTIONS"]
    options["init_command"] = options["init_command"].replace("cache_size=-32000", "cache_size=-500")
    one.close()
call_command("propagate", json=True)
"""


def measured(work: Path, pages: int, *, cache: bool = True) -> Weight:
    var = work / f"pages-{pages}"
    ground.found(var)
    manage(var, "prepare")
    command = [PYTHON, "-m", "tests.bench.propagation_memory", "--fill", str(pages)]
    subprocess.run(command, env=environment(var), check=True, cwd=machine.BASE)
    command = ["manage.py", "propagate", "--json"] if cache else ["-c", WITHOUT_CACHE]
    return weigh([PYTHON, *command], environment(var))


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(arguments, __doc__ or "", pages=50_000, part=5, fill=0)
    if options.fill:
        return fill(options.fill)
    with folder() as work:
        small, large = (measured(work, pages) for pages in (options.pages // options.part, options.pages))
    ratio = large.own / small.own
    kept = f"≤ {GROWTH} × and ≤ {MOST_MB} MB {machine.kept(ratio <= GROWTH and large.own <= MOST_MB)}"
    rows = [
        (f"{pages:,}", *(f"{figure:.0f}" for figure in weight), *more)
        for pages, weight, more in (
            (options.pages // options.part, small, ("", "")), (options.pages, large, (f"{ratio:.2f} ×", kept)),
        )
    ]  # fmt: skip
    heads = ("pages", "MB of its own", "MB of files", "seconds", "growth", "budget")
    machine.table("Memory of a first propagation of one document to three targets", heads, rows)
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
