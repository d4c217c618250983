"""At speed Polite a site sees one request at a time and a second between them, whoever works: several documents,
several processes (goal 30, threat T23). Measured where it counts, in the site."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from tests.faults import site as sites
from tests.faults.house import BASE, House
from tests.proves import proves
from tests.sites.misbehaving import Answer, Asked, Page, Site, page

DOCUMENTS, POINTS = 3, 7  # 21 crawl points on one site
TAKES = 0.3  # seconds for each answer


class Visits:
    """When each request came, when its answer went, and how many were there together."""

    def __init__(self) -> None:
        self.spans: list[tuple[float, float]] = []
        self.together, self.most = 0, 0
        self._lock = threading.Lock()

    def page(self, body: str, status: str = "200 OK") -> Page:
        def serve(asked: Asked) -> Answer:
            begun = time.monotonic()
            self._count(1)
            time.sleep(TAKES)
            self._count(-1)
            self.spans.append((begun, time.monotonic()))
            return page(body, status=status)(asked)

        return serve

    def _count(self, change: int) -> None:
        with self._lock:
            self.together += change
            self.most = max(self.most, self.together)


def starts(site: Site) -> Iterator[list[list[str]]]:
    for document in range(DOCUMENTS):
        yield [[site.url(f"/{document}/{point}"), "--depth", "0"] for point in range(POINTS)]


def initialize(house: House) -> None:
    environment = house.environment | {"DJANGO_SETTINGS_MODULE": "clearinghouse.settings"}
    command = [sys.executable, "-m", "tests.faults.together", "1", "initialize", "1"]
    subprocess.run(command, cwd=BASE, env=environment, check=True, capture_output=True)


def crawled_by(house: House, processes: list["subprocess.Popen[str]"]) -> set[int]:
    """Waits for the end; which instances have served a queue meanwhile."""
    serving: set[int] = set()
    while any(process.poll() is None for process in processes):
        serving |= {instance for (instance,) in house.rows("SELECT instance_id FROM active_queue")}
        time.sleep(0.1)
    for process in processes:
        assert process.wait() == 0, process.communicate()
    return serving


@proves("rule 11", "goal 30")
def test_several_documents_and_processes_are_as_polite_as_one(bare: House, tmp_path: Path) -> None:
    house, visits = bare.copy(tmp_path / "var"), Visits()
    with Site() as site:
        site.pages["/robots.txt"] = visits.page("", "404 Not Found")
        for document in range(DOCUMENTS):
            site.pages |= {f"/{document}/{point}": visits.page("<p>x") for point in range(POINTS)}
        sites.make(house, list(starts(site)))
        house.manage("launch", "--speed", "polite")
        initialize(house)
        serving = crawled_by(house, [house.start("crawl", "--join", "1") for _ in range(DOCUMENTS)])
    assert house.rows("SELECT state FROM run") == [("finished",)]
    assert len(serving) >= 2, "one process did it all: the test proves nothing"
    assert len(visits.spans) >= DOCUMENTS * POINTS + 1 and visits.most == 1
    spans = sorted(visits.spans)
    pauses = [later[0] - earlier[0] for earlier, later in pairwise(spans)]
    assert min(pauses) >= 1.0, [round(pause, 2) for pause in pauses]
