"""Live numbers: nothing is sent while nothing changes, numbers only when something does, and it ends."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from lxml import html

from clearinghouse.database.digests import digest_of
from crawler.launching import control
from crawler.liveness import instances
from crawler.liveness.instances import register
from crawler.models import Event, Excursion, Host, HostService, Instance, Run, State
from crawler.runs.run_counts import scope_key, totals, totals_by_state
from crawler.runs.views import live_numbers
from crawler.runs.views.live_numbers import ShownMark, milestone
from tests.crawler.runs.rows import SITE, make_run

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]


def poll_address(page: bytes) -> str:
    (poll,) = html.fromstring(page).xpath("//*[@id='live-poll']")
    return poll.get("hx-get", "")


def fragments(page: bytes) -> dict[str, Any]:
    tree = html.fromstring(b"<div>" + page + b"</div>")
    return {part.get("id"): part for part in tree.xpath("//*[@hx-swap-oob]")}


def test_nothing_is_sent_while_nothing_changes(signed_in: SignedIn, administrator: Any, run: Run) -> None:
    browser = signed_in(administrator)
    address = poll_address(browser.get(f"/crawls/{run.pk}/").content)
    answer = browser.get(address)
    assert answer.status_code == 204 and answer.content == b""


def test_a_change_sends_the_numbers_and_the_next_mark(signed_in: SignedIn, administrator: Any, run: Run) -> None:
    browser = signed_in(administrator)
    page = browser.get(f"/crawls/{run.pk}/").content
    address = poll_address(page)
    excursion = run.excursions.order_by("pk").first()
    Excursion.objects.filter(pk=excursion.pk).update(crawled=excursion.crawled + 1, queued=excursion.queued - 1)
    answer = browser.get(address)
    parts = fragments(answer.content)
    assert answer.status_code == 200
    assert parts["live-n-pages"].text_content() == "14" and parts["live-n-waiting"].text_content() == "4"
    assert parts[f"e{excursion.pk}-pages"].text_content() == "7"
    assert "20 of 24" in parts["live-verdict"].text_content()
    following = parts["live-poll"].get("hx-get")
    assert following != address and browser.get(following).status_code == 204
    assert b"<tr" not in answer.content and b"<main" not in answer.content


def test_viewers_share_the_numbers_but_not_the_commands(
    signed_in: SignedIn, administrator: Any, manager: Any, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, narrower = signed_in(administrator), signed_in(administrator), signed_in(manager)
    rows = ",".join(str(one.pk) for one in run.excursions.all())
    address = f"/crawls/{run.pk}/live?since=waiting.0.0.abc.def&rows={rows}"
    monkeypatch.setattr(live_numbers, "SHARED_SECONDS", 60)
    parts = fragments(first.get(address).content)
    Excursion.objects.filter(run=run).update(crawled=100)
    with CaptureQueriesContext(connections["webcrawl"]) as asked:
        shared = fragments(second.get(address).content)
    assert shared["live-n-pages"].text_content() == parts["live-n-pages"].text_content()
    assert not [one for one in asked.captured_queries if "fetching" in one["sql"] or "SUM(" in one["sql"]]
    tokens = [part["live-controls"].xpath(".//input[@name='csrfmiddlewaretoken']/@value") for part in (parts, shared)]
    assert tokens[0] and tokens[0] != tokens[1]
    own = fragments(narrower.get(address).content)
    assert own["live-n-pages"].text_content() == "207"  # of the two documents this person sees
    assert not own["live-controls"].xpath(".//*[@id='do-pause']")


def test_rows_stay_and_the_page_says_when_others_belong_there(
    signed_in: SignedIn, administrator: Any, run: Run
) -> None:
    """Documents of three groups, sorted by state."""
    browser = signed_in(administrator)

    def shown(address: str) -> tuple[str, list[str]]:
        page = html.fromstring(browser.get(address).content)
        assert not page.xpath("//*[@id='live-moved']/a"), "the page itself is as it is now"
        (poll,) = page.xpath("//*[@id='live-poll']/@hx-get")
        return poll, [span.get("id").removesuffix("-state") for span in page.xpath("//tbody//span[@id]")
                      if span.get("id").endswith("-state")]  # fmt: skip

    Excursion.objects.filter(run=run, state="running").update(crawled=50)
    every, order = shown(f"/crawls/{run.pk}/")
    going, _ = shown(f"/crawls/{run.pk}/?state=now")
    Excursion.objects.filter(run=run, state="running").update(crawled=51)
    parts = fragments(browser.get(every).content)
    assert not parts["live-moved"].xpath("a"), "numbers alone move nothing"
    Excursion.objects.filter(run=run, state="running").update(state="finished", unfinished=False)
    Excursion.objects.filter(run=run, state="waiting").update(state="running")
    cache.clear()  # as two seconds later
    for address in (parts["live-poll"].get("hx-get"), going):
        parts = fragments(browser.get(address).content)
        assert parts[f"{order[0]}-state"].text_content() == "Finished"
        assert [parts[f"live-g-{name}"].text_content() for name in ("now", "waiting", "finished")] == ["1", "0", "2"]
        (link,) = parts["live-moved"].xpath("a")
        assert link.text_content() == "Update the list"
        assert browser.get(parts["live-poll"].get("hx-get")).status_code == 204
    assert link.get("href") == f"/crawls/{run.pk}/?state=now#docs-h"
    assert shown(f"/crawls/{run.pk}/")[1][0] == order[1] and shown(link.get("href"))[1] == [order[1]]


def test_every_fragment_has_its_place_on_the_page(signed_in: SignedIn, administrator: Any, run: Run) -> None:
    browser = signed_in(administrator)
    page = html.fromstring(browser.get(f"/crawls/{run.pk}/").content)
    ids = [element.get("id") for element in page.xpath("//*[@id]")]
    assert len(ids) == len(set(ids))
    Event.objects.create(run=run, at=timezone.now(), kind="x", text="Something")
    rows = ",".join(str(one.pk) for one in run.excursions.all())
    parts = fragments(browser.get(f"/crawls/{run.pk}/live?since=running.0.1.abc&rows={rows}").content)
    assert set(parts) <= set(ids)


def test_it_stops_when_the_run_has_ended(signed_in: SignedIn, administrator: Any, run: Run) -> None:
    browser = signed_in(administrator)
    address = poll_address(browser.get(f"/crawls/{run.pk}/").content)
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED, finished_at=timezone.now())
    parts = fragments(browser.get(address).content)
    assert parts["live-poll"].get("hx-get") is None
    assert f"Run {run.pk} has ended" in parts["live-say"].text_content()
    assert poll_address(browser.get(f"/crawls/{run.pk}/").content) == ""


def test_it_can_be_turned_off(signed_in: SignedIn, administrator: Any, run: Run) -> None:
    page = signed_in(administrator).get(f"/crawls/{run.pk}/?live=off").content
    assert poll_address(page) == "" and b"Refresh" in page and b"as of" in page


def test_a_page_without_javascript_offers_refresh(signed_in: SignedIn, administrator: Any, run: Run) -> None:
    page = html.fromstring(signed_in(administrator).get(f"/crawls/{run.pk}/").content)
    assert "Refresh" in page.xpath("//noscript")[0].text_content()


def test_numbers_of_other_peoples_documents_stay_away(signed_in: SignedIn, editor: Any, run: Run) -> None:
    hidden = run.excursions.order_by("-pk").first()
    answer = signed_in(editor).get(f"/crawls/{run.pk}/live?since=x&rows={hidden.pk}")
    assert f"e{hidden.pk}-" not in answer.content.decode()


def test_signed_out_people_get_no_fragments(client: Client, run: Run) -> None:
    answer = client.get(f"/crawls/{run.pk}/live?since=x", headers={"HX-Request": "true"})
    assert b"hx-swap-oob" not in answer.content


def test_screen_readers_hear_milestones_only() -> None:
    half, later = ShownMark("running", 2, False, "a"), ShownMark("running", 2, False, "b")
    assert milestone(half, later) == ""
    assert milestone(ShownMark("running", 1, False, "a"), half) == "50% done"
    assert milestone(half, ShownMark("running", 2, True, "b")) == "First error"
    assert milestone(half, ShownMark("paused", 2, False, "b")) == "Paused"
    assert milestone(None, half) == ""
    assert ShownMark.read(half.text) == half and ShownMark.read("nonsense") is None


def test_a_quarter_is_said_once_even_if_new_finds_take_it_back(
    signed_in: SignedIn, administrator: Any, document: Any
) -> None:
    run, browser = make_run(document), signed_in(administrator)
    run.excursions.update(crawled=1, queued=90)
    address, said = poll_address(browser.get(f"/crawls/{run.pk}/").content), []
    for done, waiting in ((6, 10), (11, 10), (11, 90), (60, 50), (90, 1)):
        run.excursions.update(crawled=done, queued=waiting, unchanged=0, redirected=0, failed=2)
        parts = fragments(browser.get(address).content)
        said.append(parts["live-say"].text_content() if "live-say" in parts else "")
        address = parts["live-poll"].get("hx-get")
        assert browser.get(address).status_code == 204
    assert said == ["25% done", "50% done", "", "", "75% done"]


def test_what_can_be_asked_moves_with_the_poll(signed_in: SignedIn, administrator: Any, run: Run) -> None:
    browser = signed_in(administrator)
    first, second = run.excursions.order_by("pk")[:2]

    def polled(address: str) -> tuple[str, dict[str, Any]]:
        parts = fragments(browser.get(address).content)
        return parts["live-poll"].get("hx-get"), parts

    address = poll_address(browser.get(f"/crawls/{run.pk}/").content)
    control.set_speed(run, "fast", "administrator")
    address, parts = polled(address)
    assert parts["live-controls"].xpath(".//button[@aria-current='true']")[0].text_content() == "Fast"
    assert parts[f"e{first.pk}-acts"].xpath(".//button") and not parts[f"e{second.pk}-acts"].xpath(".//button")
    Excursion.objects.filter(pk=first.pk).update(state="finished", unfinished=False)
    address, parts = polled(address)
    assert not parts[f"e{first.pk}-acts"].xpath(".//button")


def test_who_may_not_control_gets_no_commands_with_the_poll(signed_in: SignedIn, editor: Any, run: Run) -> None:
    rows = ",".join(str(one.pk) for one in run.excursions.all())
    assert b"-acts" not in signed_in(editor).get(f"/crawls/{run.pk}/live?since=x&rows={rows}").content


def test_the_switch_is_remembered_by_the_browser(signed_in: SignedIn, administrator: Any, run: Run) -> None:
    browser = signed_in(administrator)
    browser.get(f"/crawls/{run.pk}/?live=off")
    assert poll_address(browser.get(f"/crawls/{run.pk}/").content) == ""
    browser.get(f"/crawls/{run.pk}/?live=on")
    assert poll_address(browser.get(f"/crawls/{run.pk}/").content) != ""


def fetching(run: Run, *flights: tuple[int, str, float], requests: int = 9, reading: int = 0) -> None:
    now = timezone.now().timestamp()
    oldest = [[doc_id, url, now - seconds] for doc_id, url, seconds in flights]
    instance = register(run.pk)
    instances.tell(instance, {"requests": requests, "reading": reading, "oldest": oldest})


def test_what_is_being_fetched_is_named_oldest_first(
    signed_in: SignedIn, administrator: Any, editor: Any, run: Run
) -> None:
    mine, hidden = run.excursions.order_by("pk").first().doc_id, run.excursions.order_by("-pk").first().doc_id
    fetching(run, (mine, f"{SITE}/measures/47.html", 1.2), (hidden, "https://hidden.example.gov/list.html", 4.1))
    page = signed_in(administrator).get(f"/crawls/{run.pk}/").content
    rows = [row.text_content() for row in html.fromstring(page).xpath("//ul[contains(@class, 'fetch')]/li")]
    assert rows[0].startswith("https://hidden.example.gov/list.html4.") and f"{SITE}/measures/47.html" in rows[1]
    assert b"9 requests" in page
    theirs = signed_in(editor).get(f"/crawls/{run.pk}/").content.decode()
    assert "measures/47.html" in theirs and "hidden.example.gov" not in theirs and "1 request<" in theirs


def test_what_is_being_fetched_moves_with_the_poll(signed_in: SignedIn, administrator: Any, run: Run) -> None:
    browser = signed_in(administrator)
    address = poll_address(browser.get(f"/crawls/{run.pk}/").content)
    fetching(run, (run.excursions.order_by("pk").first().doc_id, f"{SITE}/measures/47.html", 1.2))
    assert "/measures/47.html" in fragments(browser.get(address).content)["live-now"].text_content().replace("\n", "")


@pytest.mark.parametrize(("order", "word"), [(control.pause, "Pausing"), (control.stop, "Stopping")])
def test_a_pause_and_a_stop_say_how_many_pages_they_wait_for(
    signed_in: SignedIn, administrator: Any, editor: Any, run: Run, order: Callable[[Run, str], None], word: str
) -> None:
    browser = signed_in(administrator)
    order(run, "administrator")
    fetching(run, requests=3, reading=2)
    page = browser.get(f"/crawls/{run.pk}/").content
    assert f"{word}; waiting for 2 pages that are being read and 1 page that is being fetched." in page.decode()
    address = poll_address(page)
    assert browser.get(address).status_code == 204
    instances.tell(Instance.objects.get(), {"requests": 1, "reading": 1, "oldest": []})
    cache.clear()  # as two seconds later
    told = fragments(browser.get(address).content)["live-verdict"].text_content()
    assert f"{word}; waiting for 1 page that is being read." in told
    assert "waiting for" not in signed_in(editor).get(f"/crawls/{run.pk}/").content.decode(), "not of others' documents"


def test_a_site_that_holds_the_run_up_is_named(signed_in: SignedIn, administrator: Any, editor: Any, run: Run) -> None:
    host = Host.objects.create(key=digest_of("https://slow.example.gov"), origin="https://slow.example.gov")
    HostService.objects.create(host=host, instance=register(run.pk), flying=3)
    Host.objects.update(wait_until=timezone.now().timestamp() + 90)
    told = signed_in(administrator).get(f"/crawls/{run.pk}/").content.decode()
    assert "asked to wait another 90 s" in told and "Running slowly (slow.example.gov asked to wait)" in told
    assert "slow.example.gov" not in signed_in(editor).get(f"/crawls/{run.pk}/live").content.decode()


def test_what_a_poll_counts_is_what_the_page_shows(run: Run) -> None:
    everything = set(run.excursions.values_list("doc_id", flat=True))
    plain, expressions = totals_by_state(run, None), totals_by_state(run, everything)
    assert plain == expressions and set(plain) == {"running", "waiting", "finished"}
    sums = totals(run)
    for name in ("found", "queued", "pages", "redirected", "skipped", "failed", "documents"):
        assert sum(getattr(one, name) for one in plain.values()) == getattr(sums, name), name


def nearly_full(run: Run, used: int, maximum: int = 500) -> Excursion:
    excursion = run.excursions.order_by("pk").first()
    (point,) = excursion.snapshot["points"]
    point["max_pages"] = maximum
    excursion.tallies["point"] = {str(point["id"]): {"used": used}}
    excursion.queued = 620
    excursion.save()
    return excursion


def test_a_page_limit_that_is_close_is_said_while_there_is_time_to_raise_it(
    signed_in: SignedIn, administrator: Any, run: Run
) -> None:
    excursion = nearly_full(run, used=480)
    browser = signed_in(administrator)
    for answer in (browser.get(f"/crawls/{run.pk}/"), browser.get(f"/crawls/{run.pk}/live?since=x")):
        (card,) = html.fromstring(b"<div>" + answer.content + b"</div>").xpath("//*[@id='live-nearly']")
        assert "Page limit close. 480 of 500 pages at" in " ".join(card.text_content().split())
        (raise_it,) = card.xpath(".//a")
        assert raise_it.text_content().startswith("Raise to 1,200")
        assert raise_it.get("href").startswith(f"/documents/{excursion.doc_id}/crawl-points/")
        assert raise_it.get("href").endswith("/edit/?max_pages=1200")


@pytest.mark.parametrize("used", [0, 449])
def test_a_page_limit_that_is_far_is_not_mentioned(
    signed_in: SignedIn, administrator: Any, run: Run, used: int
) -> None:
    nearly_full(run, used)
    assert b"Page limit close" not in signed_in(administrator).get(f"/crawls/{run.pk}/").content


def test_who_may_not_change_the_crawl_point_is_told_but_not_offered_to_raise_it(
    signed_in: SignedIn, reader: Any, run: Run
) -> None:
    nearly_full(run, used=500)
    page = signed_in(reader).get(f"/crawls/{run.pk}/").content
    assert b"Page limit close" in page and b"Raise to" not in page


def test_who_may_see_other_documents_never_shares_a_cache_with_me() -> None:
    """Two sets may have the same hash(), like these; what they are a key for must not be mixed up."""
    mine, theirs = {1}, {2**61}
    assert hash(frozenset(mine)) == hash(frozenset(theirs))
    assert scope_key(mine) != scope_key(theirs)
    assert scope_key({12, 3}) == scope_key({3, 12}) != scope_key({1, 23})
    assert scope_key(None) != scope_key(set()) and len(scope_key(set(range(5000)))) < 100
