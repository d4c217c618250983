"""What is asked of a crawl at full speed is obeyed before anything else starts: by the log of a fast site."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from crawler.engine import dispatch, loop
from crawler.engine.child_processes import Parsers
from crawler.engine.dispatch import Dispatcher
from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.launching import control
from crawler.launching.launch import LaunchRequest, launch
from crawler.ledger.ledger_check import faults
from crawler.liveness import instances
from crawler.models import Excursion, Instance, Run, State
from crawler.sites.speeds import SPEEDS
from crawlpoints.models import CrawlPoint
from tests.crawler.conftest import go_on, make_document
from tests.crawler.sites.test_signing_in_to_sites import links, with_form
from tests.sites import forms
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
ASKED = 0.7  # seconds from the order to the last request; a second is what people were told
PROMISED = {"deactivate the crawl point": 1.5}  # asked of somebody else: looked at less often
PAGES = 1000


def doc_id() -> int:
    return Excursion.objects.values_list("doc_id", flat=True).get()


ORDERS: dict[str, Callable[[Run], object]] = {
    "pause": lambda run: control.pause(run, "anna"),
    "stop": lambda run: control.stop(run, "anna"),
    "cancel": lambda run: control.cancel(run, "anna"),
    "pause the document": lambda run: control.pause_document(run, doc_id(), "anna"),
    "exclude everything": lambda run: control.apply_excludes(run, doc_id(), ["*/p/*"], "anna"),
    "deactivate the crawl point": lambda run: CrawlPoint.objects.update(active=0),
    "polite": lambda run: control.set_speed(run, "polite", "anna"),
}
GO_ON = {"pause": control.resume, "pause the document": lambda run, by: control.resume_document(run, doc_id(), by)}


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """When each request went out."""
    start, found = Dispatcher._start, list[float]()

    def noted(self: Dispatcher, *what: Any) -> None:
        found.append(time.monotonic())
        start(self, *what)

    monkeypatch.setattr(Dispatcher, "_start", noted)
    monkeypatch.setitem(SPEEDS, "polite", (2.0, 1))
    return found


@pytest.mark.parametrize("name", ORDERS)
def test_nothing_starts_after_an_order_and_nothing_is_lost_or_fetched_twice(name: str, starts: list[float]) -> None:
    with serve({"/": Page([f"/p/{n}" for n in range(PAGES)])} | {f"/p/{n}": Page() for n in range(PAGES)}) as site:
        run = launch(
            LaunchRequest([make_document({"url": site.url("/")}).pk], by="test", speed="fast", ignore_robots=True)
        )
        initialize(run)
        looked = ordered = 0.0

        def watch(crawl: InstanceLoop) -> None:
            """Orders when nobody would look for longest; the rest of a slow crawl is not waited for."""
            nonlocal looked, ordered
            if not ordered and len(starts) > 20 and crawl._looked > looked > 0:
                ORDERS[name](run)
                ordered = time.monotonic()
            looked = crawl._looked
            if ordered and time.monotonic() - ordered > 1.5:
                crawl.ask_to_stop()

        InstanceLoop(run).work(watch)
        late = [at - ordered for at in starts if at - ordered > PROMISED.get(name, ASKED)]
        assert ordered and not late and len(starts) < PAGES
        run.refresh_from_db()
        assert not faults(run)
        if name in GO_ON:
            stored = Excursion.objects.get()
            assert stored.state == State.PAUSED and stored.crawled == len(starts)
            GO_ON[name](run, "anna")
            assert go_on(run).state == State.FINISHED
            assert set(site.requests.values()) == {1} and len(site.requests) == PAGES + 1


def test_pages_that_came_before_a_pause_are_stored_however_long_they_take_to_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loop, "LANDING_SECONDS", 0.1)
    monkeypatch.setattr(instances, "BEAT_SECONDS", 0.2)  # and rivals see meanwhile that it lives
    monkeypatch.setattr(dispatch, "TELL_SECONDS", 0.1)
    collect, submit, ordered, came = Parsers.collect, Parsers.submit, 0.0, set[str]()
    tell, told = instances.tell, list[tuple[float, dict[str, Any]]]()
    monkeypatch.setattr(instances, "tell", lambda row, one: (told.append((time.monotonic(), one)), tell(row, one)))

    def noted(self: Parsers, token: Any, fetched: Any, href: str, alone: bool = False) -> None:
        came.add(href)
        submit(self, token, fetched, href, alone)

    monkeypatch.setattr(Parsers, "submit", noted)
    monkeypatch.setattr(Parsers, "collect", lambda self: [] if time.monotonic() < ordered + 0.8 else collect(self))
    with serve({"/": Page([f"/p/{n}" for n in range(300)])} | {f"/p/{n}": Page() for n in range(300)}) as site:
        run = launch(
            LaunchRequest([make_document({"url": site.url("/")}).pk], by="test", speed="fast", ignore_robots=True)
        )
        initialize(run)

        def watch(crawl: InstanceLoop) -> None:
            nonlocal ordered
            if not ordered and crawl.strand.dispatch.fetcher.active() > 4:
                control.pause(run, "anna")
                ordered = time.monotonic()

        InstanceLoop(run).work(watch)
        waited_for = [one for at, one in told if at > ordered and one.get("reading", 0) > 1]
        assert len(waited_for) > 2, "while a pause waits, people see for what"
        beats = Instance.objects.get().beat
        assert ordered and Excursion.objects.get().crawled == len(came) > 1 and beats >= 3
        came_once = {href.removeprefix(site.address) for href in came}
        control.resume(Run.objects.get(), "anna")
        assert go_on(run).state == State.FINISHED and {site.requests[path] for path in came_once} == {1}


@pytest.mark.parametrize(("order", "ended"), [(control.resume, "finished"), (control.stop, "stopped")])
def test_what_is_asked_while_a_pause_waits_for_the_last_pages_is_obeyed(
    order: Callable[[Run, str], object], ended: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    land, asked = InstanceLoop._land_everything, []

    def landed(self: InstanceLoop) -> None:
        land(self)
        if self.orders.hold and not asked:
            asked.append(order(Run.objects.get(), "anna"))

    monkeypatch.setattr(InstanceLoop, "_land_everything", landed)
    with serve({"/": Page([f"/p/{n}" for n in range(50)])} | {f"/p/{n}": Page() for n in range(50)}) as site:
        run = launch(
            LaunchRequest([make_document({"url": site.url("/")}).pk], by="test", speed="fast", ignore_robots=True)
        )
        initialize(run)

        def watch(crawl: InstanceLoop) -> None:
            if not asked and crawl.strand.dispatch.under_way:
                control.pause(run, "anna")

        InstanceLoop(run).work(watch)
        assert asked and Excursion.objects.get().state == Run.objects.get().state == ended


def test_no_round_starts_requests_for_longer_than_an_order_may_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each queue may have to be filled before it starts something; with hundreds, that took seconds."""
    start, begun = Dispatcher._start, []
    with serve({f"/{n}/": Page() for n in range(5)}) as site:
        doc_ids = [make_document({"url": site.url(f"/{n}/")}).pk for n in range(5)]
        run = launch(LaunchRequest(doc_ids, by="test", speed="fast", ignore_robots=True))
        initialize(run)

        def slow(self: Dispatcher, *what: object) -> None:
            begun.append(what)
            start(self, *what)  # type: ignore[arg-type]
            control.pause(run, "anna")
            time.sleep(2 * dispatch.STARTING_SECONDS)

        monkeypatch.setattr(Dispatcher, "_start", slow)
        InstanceLoop(run).work()
        monkeypatch.undo()
        assert len(begun) == 1
        control.resume(Run.objects.get(), "anna")
        assert go_on(run).state == State.FINISHED and sum(site.requests.values()) == 5


def test_pages_that_wait_for_a_sign_in_are_given_back() -> None:
    names = [f"/m/{n}" for n in range(40)]
    with forms.serve(pages={name: links() for name in names}, pages_a_session=4, slow=0.6) as site:
        site.pages["/m/"] = links(*names)
        run = launch(LaunchRequest([make_document(with_form(site)).pk], by="test", speed="fast", ignore_robots=True))
        initialize(run)
        ordered = 0.0

        def watch(crawl: InstanceLoop) -> None:
            nonlocal ordered
            if not ordered and site.asked("GET", "/login") == 2 and crawl.strand.dispatch.fetcher.active() > 1:
                control.pause(run, "anna")
                ordered = time.monotonic()

        InstanceLoop(run).work(watch)
        late = [one.path for one in site.seen if one.at > ordered + ASKED and one.path in site.pages]
        assert ordered and late == []
        site.pages_a_session = 1000
        control.resume(Run.objects.get(), "anna")
        assert go_on(run).state == State.FINISHED and Excursion.objects.get().crawled == len(names) + 1
