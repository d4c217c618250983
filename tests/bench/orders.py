"""How soon a crawl at full speed obeys: the last request after an order, by the log of the site, and what is stored.

python -m tests.bench.orders [--pages 3000] [--rounds 3]
"""

import json
import signal
import statistics
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.bench import ground, machine, site
from tests.bench.crawl import CRAWL, PYTHON, environment, folder, house, nginx, options_of, start_of

PROMISED = 1.0  # seconds until the last request
BEGUN = 400  # pages, when the order comes
ORDERS = {
    "pause": "control.pause(run, by='bench')",
    "pause a document": "control.pause_document(run, 1, by='bench')",
    "stop": "control.stop(run, by='bench')",
    "cancel": "control.cancel(run, by='bench')",
    "deactivate": "CrawlPoint.objects.update(active=0)",
}
# Gives the order when enough is stored, and goes on looking until nothing is stored any more.
_ORDER = """
import json, sys, time
import django; django.setup()
from django.db.models import Sum
from crawler.launching import control
from crawler.models import Excursion, Run
from crawlpoints.models import CrawlPoint
stored = lambda: Excursion.objects.aggregate(n=Sum("crawled"))["n"] or 0
while stored() < int(sys.argv[1]): time.sleep(0.02)
run, began = Run.objects.get(), time.time()
{order}
given = time.time()
before = count = stored(); last = time.time()
while time.time() - last < 2.5:
    now = stored()
    if now != count: count, last = now, time.time()
    time.sleep(0.02)
print(json.dumps([began, given, count - before, last]))
"""


@contextmanager
def crawling(var: Path) -> Iterator[None]:
    crawl = subprocess.Popen(CRAWL, env=environment(var), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        crawl.send_signal(signal.SIGTERM)
        crawl.wait()


def obeyed(order: str, var: Path, log: Path, begun: int) -> tuple[float, int, int, float]:
    """Seconds to the last request, requests and pages since the order, seconds to the last page."""
    log.write_text("")
    command = [PYTHON, "-c", _ORDER.format(order=order), str(begun)]
    with crawling(var):
        done = subprocess.run(command, env=environment(var), stdout=subprocess.PIPE, text=True, check=True)
    _, given, pages, last = json.loads(done.stdout)
    begins = [float(end) - float(took) for end, took in map(str.split, log.read_text().splitlines())]
    late = [at - given for at in begins if at > given]
    return max(late, default=0.0), len(late), pages, last - given if pages else 0.0


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(arguments, __doc__ or "", pages=3000, rounds=3)
    machine.require("nginx")
    rows = []
    with folder() as work:
        log, template = work / "requests.log", work / "template"
        site.write(options.pages, work / "site")
        with nginx(work / "site", work, log=f"{log} times") as address:
            house(template, [start_of(address)])
            for name, order in ORDERS.items():
                found = []
                for number in range(options.rounds):
                    var = work / f"{name}-{number}".replace(" ", "-")
                    ground.copy(template, var)
                    found.append(obeyed(order, var, log, min(BEGUN, options.pages // 5)))
                worst = max(found)
                median = statistics.median(seconds for seconds, *_ in found)
                rows.append((name, f"{median:.2f}", f"{worst[0]:.2f}", worst[1], worst[2], f"{worst[3]:.2f}",
                             f"≤ {PROMISED:g} s {machine.kept(worst[0] <= PROMISED)}"))  # fmt: skip
    machine.table(
        f"Orders to a crawl at full speed, {options.rounds} rounds",
        ("order", "last request after, s", "slowest", "requests since", "pages since", "last page after, s", "budget"),
        rows,
    )


if __name__ == "__main__":
    main()
