"""Planned crawls, the calendar, quiet hours, the pause of all crawls: what is shown, and who may change it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from lxml import html

from clearinghouse.library.models import Document
from crawler import quiet, schedules
from crawler.models import QuietWeek, Run, Schedule
from crawlpoints import services

from .rows import make_run

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]
PAGES = ["/crawls/schedules/", "/crawls/?tab=calendar"]
WEEKLY = {"what": "all", "speed": "polite", "when": "week", "at": "02:00", "weekday": ["6"]}


@pytest.fixture
def pointed(document: Document, other_document: Document) -> Document:
    for number, one in enumerate((document, other_document)):
        address = f"https://{number}.example.gov/"
        services.add_crawl_point(one, {"url": address, "root": address})
    return document


def text_of(answer: Any) -> str:
    return " ".join(html.fromstring(answer.content).xpath("//main")[0].text_content().split())


def plan(browser: Client, **values: Any) -> Any:
    return browser.post("/crawls/launch/", WEEKLY | values)


def test_a_plan_is_said_in_plain_words_before_and_after(
    signed_in: SignedIn, administrator: Any, pointed: Document
) -> None:
    browser = signed_in(administrator)
    before = text_of(browser.get("/crawls/launch/", WEEKLY))
    assert "Every Sunday at 02:00, next" in before and "Plan crawl of 2 documents" in before
    assert plan(browser, pages="50", note="Sundays")["Location"] == "/crawls/schedules/"
    schedule = Schedule.objects.get()
    assert (schedule.every, schedule.weekdays, schedule.at, schedule.max_pages) == ("week", [6], "02:00", 50)
    assert schedule.next_at.weekday() == 6 and Run.objects.count() == 0
    assert "Every Sunday at 02:00" in text_of(browser.get("/crawls/schedules/"))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"at": ""}, "Enter the time at which it starts"),
        ({"weekday": []}, "Choose at least one day of the week"),
        ({"when": "at", "date": ""}, "Enter the day on which it starts"),
        ({"when": "at", "date": "2020-01-01"}, "This time has passed"),
        ({"when": "month", "monthday": "32"}, "Enter a day from 1 to 31"),
        ({"pages": "many"}, "Enter a whole number of pages"),
    ],
)
def test_half_a_plan_is_refused_in_words(
    signed_in: SignedIn, administrator: Any, pointed: Document, values: dict[str, Any], message: str
) -> None:
    answer = plan(signed_in(administrator), **values)
    assert answer.status_code == 422 and message in text_of(answer) and not Schedule.objects.exists()


def test_once_at_a_time_to_come(signed_in: SignedIn, administrator: Any, pointed: Document) -> None:
    tomorrow = timezone.localdate() + timedelta(days=1)
    plan(signed_in(administrator), when="at", date=tomorrow.isoformat(), what="chosen", doc=[pointed.pk])
    schedule = Schedule.objects.get()
    assert schedule.every == "once" and timezone.localtime(schedule.next_at).date() == tomorrow
    assert schedule.doc_ids == [pointed.pk]


def test_the_calendar_shows_what_is_planned_and_opens_a_day(
    signed_in: SignedIn, administrator: Any, pointed: Document
) -> None:
    browser = signed_in(administrator)
    make_run(pointed, state="finished", queued=0)
    plan(browser, when="day")
    following = (timezone.localdate().replace(day=1) + timedelta(days=32)).replace(day=1)
    page = html.fromstring(browser.get(f"/crawls/?tab=calendar&month={following:%Y-%m}").content)
    days = page.xpath("//table[contains(@class,'month')]//td[contains(@class,'heat4')]")
    assert len(days) >= 28 and "6 pages" in days[0].text_content()
    for nonsense in ("9999-12", "0001-01", "x"):
        assert browser.get(f"/crawls/?tab=calendar&month={nonsense}&day=x").status_code == 200
    opened = browser.get("/crawls/" + days[0].xpath("a")[0].get("href").partition("#")[0])
    assert "All active documents" in text_of(opened) and "2 documents, 6 pages last time" in text_of(opened)


def test_people_see_only_plans_for_their_documents(
    signed_in: SignedIn, editor: Any, stranger: Any, administrator: Any, pointed: Document
) -> None:
    plan(signed_in(administrator), what="chosen", doc=[pointed.pk], note="For one")
    assert "For one" in text_of(signed_in(editor).get("/crawls/schedules/"))
    assert "For one" not in text_of(signed_in(stranger).get("/crawls/schedules/"))
    assert "0 starts planned" in text_of(signed_in(stranger).get("/crawls/?tab=calendar"))


def test_plans_are_turned_off_on_and_deleted(signed_in: SignedIn, administrator: Any, pointed: Document) -> None:
    browser = signed_in(administrator)
    plan(browser)
    address = f"/crawls/schedules/{Schedule.objects.get().pk}/"
    browser.post(address, {"action": "off"})
    assert not Schedule.objects.get().active
    browser.post(address, {"action": "on"})
    assert Schedule.objects.get().active
    assert browser.post(address, {"action": "nonsense"}).status_code == 404
    browser.post(address, {"action": "delete"})
    assert not Schedule.objects.exists() and browser.post(address, {"action": "on"}).status_code == 404


def test_quiet_hours_are_saved_and_shown(signed_in: SignedIn, administrator: Any, reader: Any) -> None:
    browser = signed_in(administrator)
    browser.post("/crawls/schedules/hours/", {"quiet": ["0", "167", "nonsense"]})
    assert QuietWeek.objects.get().hours == "1" + "0" * 166 + "1"
    ticked = html.fromstring(browser.get("/crawls/schedules/").content).xpath("//input[@checked]/@aria-label")
    assert ticked == ["Monday 00:00", "Sunday 23:00"]
    assert not html.fromstring(signed_in(reader).get("/crawls/schedules/").content).xpath(
        "//main//input[@type='checkbox']"
    )


def ticked(answer: Any) -> set[str]:
    boxes = html.fromstring(answer.content).xpath("//table[contains(@class,'week')]//input[@checked]/@aria-label")
    return set(map(str, boxes))


def test_a_range_a_day_and_an_hour_are_ticked_at_once_and_saved_by_save(
    signed_in: SignedIn, administrator: Any
) -> None:
    browser = signed_in(administrator)

    def press(button: str, **form: Any) -> Any:
        return browser.post("/crawls/schedules/hours/", {"do": button} | form)

    night = {"day": ["0", "6"], "from": "22", "to": "2"}  # of Sunday it ends on Monday
    late = {f"{day} {hour}:00" for day in ("Monday", "Sunday") for hour in (22, 23)}
    late |= {"Monday 00:00", "Monday 01:00", "Tuesday 00:00", "Tuesday 01:00"}
    answer = press("quiet", **night)
    assert ticked(answer) == late and "8 hours of the week, not saved yet" in text_of(answer)
    assert ticked(press("open", quiet=["0", "5"], **night)) == {"Monday 05:00"}
    assert len(ticked(press("quiet", day="3", **{"from": "8", "to": "8"}))) == 24
    assert ticked(press("quiet", day=["x"], **{"from": "²", "to": "0"})) == set()

    tuesday = {f"Tuesday {hour:02}:00" for hour in range(24)}
    assert ticked(press("day-1", quiet=["24"])) == tuesday
    assert ticked(press("day-1", quiet=[str(hour) for hour in range(24, 48)])) == set(), "again: none of it"
    assert len(ticked(press("hour-23"))) == 7 and len(ticked(press("week"))) == 168
    for nonsense in ("day-7", "hour-24", "x"):
        assert press(nonsense).status_code == 404
    assert not QuietWeek.objects.exists(), "nothing is saved before Save is pressed"
    assert press("save", quiet=["8"])["Location"] == "/crawls/schedules/"
    assert QuietWeek.objects.get().hours.count("1") == 1


def test_all_crawls_are_paused_and_said_so_everywhere(
    signed_in: SignedIn, administrator: Any, pointed: Document
) -> None:
    browser = signed_in(administrator)
    run = schedules.launch([pointed.pk], by="administrator")
    browser.post("/crawls/pause/", {"paused": "1"})
    run.refresh_from_db()
    assert run.control == "pause"
    for path in ("/crawls/", "/crawls/launch/", "/crawls/schedules/"):
        assert "All crawls are paused by administrator" in text_of(browser.get(path)), path
    assert "by the pause of all crawls" in text_of(browser.get("/crawls/?tab=waiting")), "it has not begun"
    browser.post("/crawls/launch/", {"what": "all", "speed": "polite"})
    assert Run.objects.latest("pk").control == "pause"
    browser.post("/crawls/pause/", {"paused": "0"})
    assert not Run.objects.exclude(control="").exists()


def test_only_administrators_change_plans(
    signed_in: SignedIn, client: Client, editor: Any, reader: Any, manager: Any, administrator: Any, pointed: Document
) -> None:
    plan(signed_in(administrator))
    address = f"/crawls/schedules/{Schedule.objects.get().pk}/"
    doors = [(address, {"action": "delete"}), ("/crawls/schedules/hours/", {}), ("/crawls/pause/", {"paused": "1"})]
    for path, form in doors:
        for person in (editor, reader, manager):
            assert signed_in(person).post(path, form).status_code == 403, path
        assert client.post(path, form)["Location"].startswith("/sign-in/")
        assert signed_in(administrator).get(path).status_code == 405
    for path in PAGES:
        assert client.get(path)["Location"].startswith("/sign-in/")
        for person in (editor, reader, manager, administrator):
            assert signed_in(person).get(path).status_code == 200
    assert Schedule.objects.count() == 1 and not QuietWeek.objects.exists() and quiet.silence(timezone.now()) is None
