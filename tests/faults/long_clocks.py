"""Two hosts on one PostgreSQL, and the clock of one is ten minutes off: nobody waits for it, nothing comes twice.

Real processes: a worker and a tick on each host. Long, so it is a case of `make faults` and no part of the suite:
python -m pytest tests/faults/long_clocks.py.
"""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults import moved_clock, namespace
from tests.faults.house import House as Prepared
from tests.faults.site import make
from tests.faults.test_gentle import Visits
from tests.faults.test_two_hosts import DATABASES, Host, durable, two_hosts
from tests.flow.house import until
from tests.postgres import Server
from tests.requirements import need
from tests.sites.misbehaving import Answer, Asked, Page, Site, page

__all__ = ["durable"]
DOCUMENTS, POINTS = 2, 12
PLANNED = DOCUMENTS + 1  # the document of the plan
RETRY_AFTER = 6.0  # seconds
SLACK = 3.0  # of a busy machine, for each pause
LATE = 0.1  # seconds by which the site may notice a request too late, so that the next one seems to come early
HEARD = 4.0  # seconds until the other host has heard that the site wants to be left alone: written with the next beat
DUE_IN = 12  # seconds

_PLAN = f"""
from datetime import timedelta
from crawler.launching import schedules
from crawler.liveness import database_clock
from crawler.models import Schedule
now = database_clock.moment()
plan = schedules.add(Schedule(zone="UTC", every="day", at=f"{{now:%H:%M}}", what="chosen", doc_ids=[{PLANNED}],
                              created_by="amira", created_at=now), now)
due = now + timedelta(seconds={DUE_IN})
Schedule.objects.update(next_at=due)
print(due.timestamp())
"""
INTERRUPTED = "SELECT count(*) FROM run_event WHERE kind = 'interrupted'"
BURIED = "SELECT count(*) FROM instance WHERE NOT alive"
PLANNED_RUNS = "SELECT count(*) FROM run WHERE origin = 'schedule'"
BEGUN = "SELECT extract(epoch FROM last_at) FROM schedule"
SERVED_BY = "SELECT count(DISTINCT i.host) FROM active_queue q JOIN instance i ON i.id = q.instance_id"


class Visited(Visits):
    """A page of it is busy once, and says when to come again."""

    busy_at = 0.0

    def busy_once(self) -> Page:
        good, busy = self.page("<p>x"), page("", f"Retry-After: {RETRY_AFTER:.0f}", status="503 Service Unavailable")

        def serve(asked: Asked) -> Answer:
            if self.busy_at:
                return good(asked)
            self.busy_at = asked.at
            return busy(asked)

        return serve


class Hosts:
    def __init__(self, near: Host, far: Host, server: Server) -> None:
        self.near, self.far, self.server = near, far, server

    def value(self, query: str) -> float:
        return float(self.server.execute(query, database=DATABASES["DB_WEBCRAWL"])[0][0] or 0)

    def ended(self) -> bool:
        return self.value("SELECT count(*) FROM run WHERE finished_at IS NULL") == 0


@pytest.fixture(params=[600, -600], ids=["ahead", "behind"])
def hosts(durable: Server, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Hosts]:
    need("namespaces", namespace.possible(), "unshare may not be used")
    need("compiler", moved_clock.possible(), "there is no C compiler for a clock of its own")
    with two_hosts(durable) as (near, far):
        far.env |= moved_clock.environment(tmp_path, request.param)
        yield Hosts(near, far, durable)


def test_the_clock_of_another_host_keeps_nobody_waiting_and_brings_nothing_twice(
    hosts: Hosts, record_property: Callable[[str, object], None]
) -> None:
    visits = Visited()
    with Site() as site:
        prepare(hosts.near, site, visits)
        start(hosts)
        run = hosts.near.manage("launch", "--doc", 1, "--doc", 2, "--speed", "polite")["run"]
        until(lambda: hosts.value(SERVED_BY) == 2, f"both hosts serve\n{hosts.near.log}{hosts.far.log}", 60)
        due = float(Prepared(hosts.near.folder, hosts.near.urls).python(_PLAN))
        assert "differs by" in hosts.far.run("doctor").stdout, "who looks is told"
        until(lambda: hosts.value(PLANNED_RUNS) >= 1, "the plan starts", DUE_IN + 20)
        until(lambda: hosts.ended() or hosts.value(BURIED), "both runs end", 180)
        until(hosts.ended, "both runs end", 30)
        hosts.near.manage("check_ledger", run)
        late = hosts.value(BEGUN) - due
        assert hosts.value(PLANNED_RUNS) == 1 and 0 <= late <= 5 + SLACK, late
        record_property("seconds a plan began after its time", round(late, 1))
        prove(hosts, site, visits, record_property)


def prepare(near: Host, site: Site, visits: Visited) -> None:
    site.pages["/robots.txt"] = visits.page("", "404 Not Found")
    paths = [[f"/{document}/{point}" for point in range(POINTS)] for document in range(DOCUMENTS)] + [["/planned"]]
    for path in itertools.chain(*paths):
        site.pages[path] = visits.page("<p>x")
    site.pages["/0/6"] = visits.busy_once()
    points = [[[site.url(path), "--depth", "0"] for path in of_document] for of_document in paths]
    make(Prepared(near.folder, near.urls), points)


def start(hosts: Hosts) -> None:
    hosts.near.start_redis()
    hosts.near.start_worker("control")
    for host in (hosts.near, hosts.far):
        host.start_worker("crawl")
        host.start_manage("tick")


def prove(hosts: Hosts, site: Site, visits: Visited, record_property: Callable[[str, object], None]) -> None:
    assert hosts.value(INTERRUPTED) == 0, "nobody alive was taken for dead"
    asked = sorted(one.at for one in site.log)
    targets = [one.target for one in site.log if one.target != "/robots.txt"]
    assert len(targets) == len(set(targets)) + 1 == DOCUMENTS * POINTS + 2, "each once, and the busy one once more"
    again = visits.busy_at + RETRY_AFTER
    pauses = [later - earlier for earlier, later in itertools.pairwise(asked) if earlier >= again or later <= again]
    assert min(pauses) >= 1.0 - LATE and visits.most == 1, pauses
    assert max(pauses) <= 1.0 + SLACK, pauses
    early = [at - visits.busy_at for at in asked if visits.busy_at < at < again]
    assert all(at < HEARD for at in early), f"the other host has heard of it long ago: {early}"
    left_alone = min(at for at in asked if at >= again) - visits.busy_at
    assert left_alone <= RETRY_AFTER + SLACK
    record_property("seconds between two requests at Polite, median", round(sorted(pauses)[len(pauses) // 2], 2))
    record_property("seconds between two requests at Polite, most", round(max(pauses), 2))
    record_property(f"seconds a site was left alone that asked for {RETRY_AFTER:.0f}", round(left_alone, 1))
    record_property("requests of the other host before it heard of that, most", len(early))
    record_property("processes wrongly taken for dead", 0)
    record_property("pages lost", 0)
