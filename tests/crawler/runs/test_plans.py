"""Planned crawls, the calendar, quiet hours, the pause of all crawls: what is shown, and who may change it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils import timezone
from lxml import html

from clearinghouse.audit.models import Entry
from clearinghouse.library.models import Document
from crawler.launching import quiet_hours, schedules
from crawler.models import QuietWeek, Run, Schedule
from crawlpoints import queries, saved_views, services
from tests.crawler.runs.rows import make_run

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]
PAGES = ["/crawls/schedules/", "/crawls/?tab=calendar"]
HTMX = {"HX-Request": "true"}
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


def entries(answer: Any) -> dict[str, list[str]]:
    """What a browser sends when the form of a page is sent as it came."""
    found: dict[str, list[str]] = {}
    for name, value in html.fromstring(answer.content).forms[-1].form_values():
        found.setdefault(name, []).append(value)
    return found | {"only": [""]}  # lxml takes a radio button without a value for one that says "on"


def test_a_plan_is_changed_on_the_form_it_was_made_with(
    signed_in: SignedIn, administrator: Any, pointed: Document, other_document: Document
) -> None:
    browser = signed_in(administrator)
    plan(browser, what="chosen", doc=[pointed.pk], note="Sundays", minutes="30")
    made = Schedule.objects.get()
    Schedule.objects.update(zone="Asia/Tokyo", created_by="somebody", last_said="Nothing to crawl")
    address = f"/crawls/schedules/{made.pk}/edit/"
    assert f'href="{address}"' in browser.get("/crawls/schedules/").content.decode()
    page = browser.get(address)
    assert "times are those of Asia/Tokyo" in text_of(page) and "Save plan of 1 document" in text_of(page)
    same = entries(page)
    assert (same["doc"], same["note"], same["minutes"], same["at"]) == (
        [str(pointed.pk)],
        ["Sundays"],
        ["30"],
        ["02:00"],
    )
    assert "now" not in {box.get("value") for box in html.fromstring(page.content).xpath("//input[@name='when']")}
    counted = browser.get(address, same | {"what": "all"}, headers=HTMX)
    assert "Save plan of 2 documents" in counted.content.decode()

    refused = browser.post(address, same | {"when": "week", "weekday": []})
    assert refused.status_code == 422 and "Choose at least one day of the week" in text_of(refused)
    refused = browser.post(address, {name: value for name, value in same.items() if name != "when"})
    assert refused.status_code == 422 and "Choose when it starts" in text_of(refused)
    assert Schedule.objects.get().note == "Sundays"

    saved = same | {"when": "month", "monthday": "15", "at": "03:30", "doc": [pointed.pk, other_document.pk]}
    assert browser.post(address, saved)["Location"] == "/crawls/schedules/"
    now = Schedule.objects.get()
    assert (now.every, now.monthday, now.at, now.max_seconds) == ("month", 15, "03:30", 1800)
    assert now.doc_ids == sorted([pointed.pk, other_document.pk])
    assert (now.zone, now.created_by, now.last_said, now.active) == ("Asia/Tokyo", "somebody", "", True)
    assert f"{now.next_at.astimezone(ZoneInfo('Asia/Tokyo')):%d %H:%M}" == "15 03:30"
    assert Entry.objects.filter(sentence="Changed the planned crawl: Every month on day 15 at 03:30").count() == 1


def test_a_plan_of_somebody_elses_view_keeps_it(
    signed_in: SignedIn, administrator: Any, editor: Any, pointed: Document
) -> None:
    browser, now = signed_in(administrator), timezone.now()
    view = saved_views.keep(editor, "Mine", "view=mine")
    values = {"what": "view", "view_id": view.pk, "every": "day", "zone": "Mars/Base"}
    made = Schedule.objects.create(created_by="editor", created_at=now, **values)
    assert "Mine, of editor" in text_of(browser.get("/crawls/schedules/"))
    address = f"/crawls/schedules/{made.pk}/edit/"
    answer = browser.post(address, entries(browser.get(address)))
    assert answer.status_code == 302, answer.context["problems"]
    kept = Schedule.objects.get()
    assert (kept.what, kept.view_id, kept.zone) == ("view", view.pk, "UTC"), "a place nobody knows is given up"


def test_a_plan_says_which_documents_it_means_and_leads_to_them(
    signed_in: SignedIn, administrator: Any, editor: Any, pointed: Document, other_document: Document
) -> None:
    plan(signed_in(administrator), what="chosen", doc=[pointed.pk, other_document.pk])
    made = Schedule.objects.get()
    everything, theirs = (signed_in(person).get("/crawls/schedules/") for person in (administrator, editor))
    assert pointed.title in text_of(everything) and other_document.title in text_of(everything)
    assert pointed.title in text_of(theirs) and other_document.title not in text_of(theirs)
    assert f'href="/reports/schedules/?schedule={made.pk}">2<' in everything.content.decode()
    point = queries.points_of(pointed).get()
    Schedule.objects.update(what="point", point_id=point.pk, doc_ids=[pointed.pk])
    theirs = text_of(signed_in(editor).get("/crawls/schedules/"))
    assert "One crawl point" in theirs and point.url in theirs


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
    assert (
        Schedule.objects.count() == 1 and not QuietWeek.objects.exists() and quiet_hours.silence(timezone.now()) is None
    )
