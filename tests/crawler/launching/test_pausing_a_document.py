"""One document of a run rests while the others go on; what is being fetched stands on the row of the instance."""

import pytest

from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.errors import WrongMoment
from crawler.launching import control, launch
from crawler.models import Excursion, Instance, Run, State
from crawler.sites.queries import fetching_now
from tests.crawler.conftest import go_on, make_document
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
PAGES = 300


def test_a_document_is_paused_and_goes_on_when_asked() -> None:
    names = [f"/{folder}/{number}" for folder in "ab" for number in range(PAGES)]
    starts = {f"/{folder}/": Page([name for name in names if name[1] == folder]) for folder in "ab"}
    with serve(starts | {name: Page(delay=0.15) for name in names}) as site:
        first, second = (make_document({"url": site.url(f"/{folder}/")}) for folder in "ab")
        run = launch.launch([first.pk, second.pk], by="test", speed="fast")
        initialize(run)
        told: list[int] = []

        def watch(crawl: InstanceLoop) -> None:
            count, flights = fetching_now(run, None)
            if not told and any("/a/" in flight.url for flight in flights):
                told.append(count)
                assert flights[0].doc_id in (first.pk, second.pk) and count >= len(flights) <= 8
                control.pause_document(run, first.pk, "anna")

        InstanceLoop(run).work(watch)
        assert told
        rests, ended = (Excursion.objects.get(run=run, doc_id=one.pk) for one in (first, second))
        assert (rests.state, rests.unfinished, rests.control) == (State.PAUSED, True, "pause")
        assert rests.queued > 0 and ended.state == State.FINISHED and ended.crawled == PAGES + 1
        assert not Instance.objects.filter(alive=True).exists() and fetching_now(run, None) == (0, [])
        control.pause(run, "anna")
        control.resume(run, "anna")
        assert Excursion.objects.get(pk=rests.pk).state == State.PAUSED
        control.resume_document(Run.objects.get(pk=run.pk), first.pk, "anna")
        assert go_on(run).state == State.FINISHED
        assert Excursion.objects.get(pk=rests.pk).crawled == PAGES + 1
        assert max(site.requests[name] for name in names) == 1
        with pytest.raises(WrongMoment):
            control.pause_document(run, first.pk, "anna")


def test_a_paused_document_ends_with_its_run() -> None:
    with serve({"/a/": Page(["/a/1"]), "/a/1": Page()}) as site:
        document = make_document({"url": site.url("/a/")})
        run = launch.launch([document.pk], by="test", speed="fast")
        initialize(run)
        control.pause_document(run, document.pk, "anna")
        control.pause_document(run, document.pk, "anna")  # an order may be given again
        assert Excursion.objects.get(run=run).state == State.PAUSED
        control.stop(run, "anna")
        assert go_on(run).state == State.STOPPED
