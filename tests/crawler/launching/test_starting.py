"""Crawls that start by themselves, once each; hours in which none runs, and who has the last word."""

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from clearinghouse.library.models import Document, Sheet
from crawler import jobs
from crawler.engine.initializer import initialize
from crawler.inbox import notices
from crawler.launching import control, quiet_hours, schedules
from crawler.launching.planned_pages import doc_ids_among, documents_with_points
from crawler.models import Delivery, Event, Excursion, Hold, Mark, Notice, Run, Schedule, State
from crawlpoints import saved_views, services
from crawlpoints.models import CrawlPoint

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
NOW = datetime(2026, 11, 18, 12, 0, tzinfo=ZoneInfo("UTC"))  # a Wednesday


@pytest.fixture
def point(document: Document) -> CrawlPoint:
    return services.add_crawl_point(document, {"url": "https://a.example.gov/", "root": "https://a.example.gov/"})[0]


def weekly(**values: Any) -> Schedule:
    given = {"every": "week", "weekdays": [6], "at": "02:00", "zone": "Europe/Berlin"} | values
    return schedules.add(Schedule(created_by="administrator", created_at=NOW, **given), NOW)


def test_a_due_schedule_starts_once_however_often_the_tick_looks(point: CrawlPoint) -> None:
    sunday = weekly()
    assert sunday.next_at == datetime(2026, 11, 22, 1, 0, tzinfo=ZoneInfo("UTC"))
    assert schedules.start_due(NOW) == []
    later = sunday.next_at + timedelta(seconds=3)
    (run,) = schedules.start_due(later)
    assert schedules.start_due(later) == [] and Run.objects.count() == 1
    sunday.refresh_from_db()
    assert (run.origin, run.requested_by) == ("schedule", "administrator")
    assert sunday.last_run_id == run.pk and sunday.next_at == datetime(2026, 11, 29, 1, 0, tzinfo=ZoneInfo("UTC"))


def test_two_ticks_that_both_saw_it_due_start_it_once(point: CrawlPoint) -> None:
    sunday = weekly()
    later = sunday.next_at + timedelta(seconds=3)
    first, second = Schedule.objects.get(pk=sunday.pk), Schedule.objects.get(pk=sunday.pk)
    assert schedules.start(first, later) is not None
    assert schedules.start(second, later) is None and Run.objects.count() == 1


def test_many_missed_starts_are_made_up_for_once(point: CrawlPoint) -> None:
    weekly()
    assert len(schedules.start_due(NOW + timedelta(days=50))) == 1
    assert Schedule.objects.get().next_at > NOW + timedelta(days=50)


def test_a_time_of_its_own_happens_once_and_is_kept(point: CrawlPoint) -> None:
    once = weekly(every="once", next_at=NOW + timedelta(hours=1))
    assert len(schedules.start_due(NOW + timedelta(hours=2))) == 1
    once.refresh_from_db()
    assert once.next_at is None and schedules.start_due(NOW + timedelta(days=9)) == []


def test_nothing_to_crawl_is_said_and_the_next_one_is_planned(document: Document) -> None:
    sunday = weekly()
    assert schedules.start_due(sunday.next_at) == []
    sunday.refresh_from_db()
    assert "active crawl point" in sunday.last_said and sunday.next_at > NOW + timedelta(days=9)


def test_turned_off_it_rests_and_turned_on_it_makes_up_for_nothing(point: CrawlPoint) -> None:
    sunday = weekly()
    schedules.turn(sunday, on=False, now=NOW)
    assert schedules.start_due(NOW + timedelta(days=9)) == []
    schedules.turn(sunday, on=True, now=NOW + timedelta(days=9))
    assert schedules.start_due(NOW + timedelta(days=9)) == []


def test_a_limit_of_pages_is_never_above_the_crawl_points_own(document: Document, point: CrawlPoint) -> None:
    services.add_crawl_point(
        document, {"url": "https://b.example.gov/", "root": "https://b.example.gov/", "max_pages": "7"}
    )
    run = schedules.launch([document.pk], max_pages=20, by="administrator")
    snapshot = Excursion.objects.get(run=run).snapshot
    assert sorted(one["max_pages"] for one in snapshot["points"]) == [7, 20]


def test_planned_starts_of_a_month_are_listed_in_order(point: CrawlPoint) -> None:
    weekly()
    weekly(every="day", at="05:00")
    planned = schedules.upcoming(NOW, NOW + timedelta(days=7))
    assert len(planned) == 8 and planned == sorted(planned, key=lambda item: item[0])


def quiet_now() -> None:
    quiet_hours.set_hours("1" * 168, "administrator")


def launched(document: Document) -> Run:
    return schedules.launch([document.pk], by="administrator")


def test_quiet_hours_hold_a_run_and_let_it_go(document: Document, point: CrawlPoint) -> None:
    run = launched(document)
    quiet_now()
    quiet_hours.enforce(NOW)
    quiet_hours.enforce(NOW)
    run.refresh_from_db()
    assert (run.state, run.control, run.hold.reason) == (State.WAITING, "pause", "quiet"), "it has not begun: it waits"
    assert Event.objects.filter(run=run, kind="pause").count() == 1
    jobs.initialize(run.pk)
    assert not Excursion.objects.filter(run=run, found__gt=0).exists(), "a ring from before opens nothing"
    quiet_hours.set_hours("0" * 168, "administrator")
    quiet_hours.enforce(NOW)
    run.refresh_from_db()
    assert (run.state, run.control) == (State.WAITING, "") and not Hold.objects.exists()


def test_a_run_that_has_begun_is_paused_in_quiet_hours(document: Document, point: CrawlPoint) -> None:
    run = launched(document)
    initialize(run)
    quiet_now()
    quiet_hours.enforce(NOW)
    run.refresh_from_db()
    assert (run.state, run.control) == (State.PAUSED, "pause")


def test_who_resumes_a_held_run_by_hand_has_the_last_word(document: Document, point: CrawlPoint) -> None:
    run = launched(document)
    quiet_now()
    quiet_hours.enforce(NOW)
    control.resume(run, "administrator")
    quiet_hours.enforce(NOW)
    run.refresh_from_db()
    assert run.control == ""


def test_a_run_that_a_person_paused_stays_paused_when_the_hours_end(document: Document, point: CrawlPoint) -> None:
    run = launched(document)
    control.pause(run, "administrator")
    quiet_now()
    quiet_hours.enforce(NOW)
    quiet_hours.set_hours("0" * 168, "administrator")
    quiet_hours.enforce(NOW)
    run.refresh_from_db()
    assert run.control == "pause"


def test_the_pause_of_all_crawls_holds_also_what_starts_later(document: Document, point: CrawlPoint) -> None:
    quiet_hours.pause_all("administrator", "Maintenance")
    weekly()
    (run,) = schedules.start_due(NOW + timedelta(days=9))
    assert run.control == "pause" and run.hold.reason == "pause"
    assert quiet_hours.silence(NOW) == quiet_hours.Silence("pause", by="administrator")
    quiet_hours.resume_all("administrator")
    quiet_hours.enforce(NOW)
    run.refresh_from_db()
    assert run.control == ""


def test_the_command_crawl_and_previews_are_not_held(document: Document, point: CrawlPoint) -> None:
    from crawler.liveness.instances import register

    driver = register(None)
    run = schedules.launch([document.pk], by="administrator", driver=driver)
    Run.objects.create(origin="preview", requested_by="editor", created_at=timezone.now())
    quiet_now()
    quiet_hours.enforce(NOW)
    run.refresh_from_db()
    assert run.control == "" and not Hold.objects.exists()


@pytest.mark.parametrize("hours", ["", "1" * 167, "x" * 168])
def test_hours_that_are_not_a_week_are_refused(hours: str) -> None:
    with pytest.raises(ValueError, match="168"):
        quiet_hours.set_hours(hours, "administrator")


def test_a_plan_over_a_saved_view_crawls_what_the_navigator_shows(
    document: Document, point: CrawlPoint, administrator: Any, signed_in: Any
) -> None:
    """One filter: what is found without regard to case in the list is found so by the plan."""
    Sheet.objects.filter(document=document).update(title="ÉTUDE de qualité")
    view = saved_views.keep(administrator, "Études", "q=étude")
    assert "ÉTUDE de qualité" in signed_in(administrator).get("/documents/?q=étude").content.decode()
    planned = weekly(what="view", view_id=view.pk)
    (run,) = schedules.start_due(planned.next_at)
    assert list(run.excursions.values_list("doc_id", flat=True)) == [document.pk]


@pytest.mark.parametrize("query", ["view=nonsense", "view=all&age=soon", "gone"])
def test_a_saved_view_that_means_nothing_crawls_nothing_and_its_owner_is_told(
    point: CrawlPoint, administrator: Any, editor: Any, query: str
) -> None:
    view = saved_views.keep(administrator, "Odd", query)
    number = view.pk
    if query == "gone":
        view.delete()
    planned = weekly(what="view", view_id=number)
    assert doc_ids_among(planned, documents_with_points()) == set()
    assert schedules.start_due(planned.next_at) == [] and not Run.objects.exists()
    Mark.objects.update(at=planned.next_at)
    notices.write_due(planned.next_at + timedelta(seconds=30))
    notice = Notice.objects.get(event="plan")
    assert notice.sentence.startswith("A planned crawl started nothing. The saved view ")
    assert list(Delivery.objects.filter(notice=notice).values_list("person_id", flat=True)) == [administrator.pk]


def test_a_saved_view_that_means_nothing_is_said_in_the_launch_form_and_by_the_api(
    point: CrawlPoint, administrator: Any, signed_in: Any
) -> None:
    view = saved_views.keep(administrator, "Odd", "view=nonsense")
    answer = signed_in(administrator).post(
        "/crawls/launch/", {"what": "view", "view": view.pk, "speed": "fast", "when": "now"}
    )
    assert answer.status_code == 422 and "There is no list &#x27;nonsense&#x27; of documents" in answer.content.decode()
    assert not Run.objects.exists()
