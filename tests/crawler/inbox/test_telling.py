"""People are told once: in the In Tray, by mail as they wish; projects' webhooks through the guard."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client, override_settings
from django.utils import timezone

from clearinghouse.accounts import options
from clearinghouse.library.models import Document, Project
from clearinghouse.operations import work_queues
from crawler import jobs
from crawler.findings.diagnosis import diagnose, diagnose_due
from crawler.inbox import notice_mail, notices
from crawler.launching import crawl_requests
from crawler.liveness.instances import register
from crawler.models import (
    Delivery,
    Event,
    Excursion,
    Finding,
    Instance,
    Mark,
    Notice,
    Run,
    Wish,
)
from crawler.upkeep import tick
from crawlpoints import services
from tests.crawler.runs.rows import limited_run, make_run
from tests.sites.mail import Server, mail_server
from tests.sites.receiver import Receiver

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
POINT = {"url": "https://ex.gov/a/", "root": "https://ex.gov/a/"}


@pytest.fixture
def post_office() -> Iterator[Server]:
    with mail_server() as server:
        backend = "django.core.mail.backends.smtp.EmailBackend"
        with override_settings(EMAIL_BACKEND=backend, EMAIL_HOST="127.0.0.1", EMAIL_PORT=server.port):
            yield server


def look(now: datetime | None = None) -> int:
    """One round of the tick, however soon after the last."""
    Mark.objects.update(at=(now or timezone.now()) - timedelta(minutes=1))
    return notices.write_due(now or timezone.now())


def of(person: Any) -> list[str]:
    return sorted(Delivery.objects.filter(person_id=person.pk).values_list("notice__event", flat=True))


def test_the_launcher_and_the_owners_are_told_once(
    document: Document, editor: Any, administrator: Any, reader: Any
) -> None:
    limited_run(document)
    assert look() > 0
    assert of(editor) == ["page_limit", "run_finished"]
    assert "run_finished" in of(administrator) and of(reader) == []
    before = Notice.objects.count(), Delivery.objects.count()
    assert look() == 0
    assert (Notice.objects.count(), Delivery.objects.count()) == before


def test_a_run_is_told_of_when_it_was_looked_through(document: Document, administrator: Any) -> None:
    make_run(document, state="finished", queued=0)
    look()
    assert "run_finished" not in of(administrator)
    diagnose_due()
    look()
    assert "run_finished" in of(administrator)


def test_each_reader_is_told_of_the_findings_of_the_documents_they_may_see(
    post_office: Server, hook: Receiver, document: Document, other_document: Document, project: Project, editor: Any,
    administrator: Any, signed_in: Callable[[Any], Client],
) -> None:  # fmt: skip
    """Also while they are still looked for: no number is given then. And of the limits that those documents met."""
    notices.set_webhook(project, hook.url, "administrator")
    for person in (editor, administrator):
        notices.wish(person.pk, {"run_finished": Wish.How.NOW})
    administrator.email = "a@clearinghouse.example"
    administrator.save()
    run = make_run(document, other_document, state="finished", queued=0)
    mine, others = Excursion.objects.order_by("id")
    Run.objects.update(state="finished_at_limit")
    Excursion.objects.filter(pk=others.pk).update(state="finished_at_limit")
    for excursion, count in ((mine, 1), (others, 3)):
        for number in range(count):
            Finding.objects.create(excursion=excursion, run_id=run.pk, doc_id=excursion.doc_id, rule="drop",
                                   subject=str(number), weight=2, sentence="Fewer pages")  # fmt: skip
    diagnose(mine.pk)
    look(timezone.now() + timedelta(minutes=11))
    sentence = f"Run {run.pk} finished"

    def trays() -> list[str]:
        return [signed_in(person).get("/").content.decode() for person in (editor, administrator)]

    assert f"{sentence}: 1 finding needs attention<" in trays()[0]
    assert f"{sentence} at limit: still looking for findings<" in trays()[1]
    diagnose(others.pk)
    assert f"{sentence}: 1 finding needs attention<" in trays()[0]
    assert f"{sentence} at limit: 4 findings need attention<" in trays()[1]
    jobs.tell()
    letters = {letter["To"]: letter["Subject"] for letter in post_office.letters if run.pk}
    assert letters["editor@clearinghouse.example"].endswith("1 finding needs attention")
    assert letters["a@clearinghouse.example"].endswith("4 findings need attention")
    told = [call["body"]["sentence"] for call in hook.calls if call["body"]["event"] == "run_finished"]
    assert told == [f"{sentence}: 1 finding needs attention"]


def test_the_page_limit_is_told_the_first_time_only(document: Document, editor: Any, administrator: Any) -> None:
    limited_run(document)
    look()
    limited_run(document)
    look()
    assert of(editor).count("page_limit") == 1 and of(editor).count("run_finished") == 2


def test_requests_and_answers_are_told(document: Document, editor: Any, administrator: Any) -> None:
    services.add_crawl_point(document, POINT)
    request = crawl_requests.ask(document, "editor", "new pages")
    look()
    assert "request" in of(administrator) and of(editor) == []
    crawl_requests.decline(request, "administrator", "next week")
    look()
    assert of(editor) == ["answered"]
    sentence = Notice.objects.get(event="answered").sentence
    assert sentence.endswith("you requested was declined by administrator: next week")


def because(person: Any, event: str) -> str:
    return Delivery.objects.get(person_id=person.pk, notice__event=event).because


def test_each_person_is_told_why_it_is_they(
    document: Document, editor: Any, administrator: Any, signed_in: Callable[[Any], Client]
) -> None:
    run = limited_run(document)
    look()
    died(run, 2)
    Run.objects.filter(pk=run.pk).update(state="running", requested_by="editor")
    look()
    assert because(administrator, "run_finished") == "you launched this run"
    assert because(editor, "run_finished") == "it has findings in a document of yours"
    assert because(editor, "interrupted") == "you launched this run"
    assert because(administrator, "interrupted") == "you are an administrator"
    tray = signed_in(administrator).get("/").content.decode()
    assert "You get this because you are an administrator." in tray


def died(run: Run, times: int) -> None:
    for number in range(times):
        at = timezone.now() - timedelta(minutes=2 * (times - number))
        Event.objects.create(run=run, at=at, kind="interrupted", text="Process 1 died")


def test_the_second_interruption_is_told_with_its_own_time(document: Document, administrator: Any) -> None:
    run = make_run(document)
    died(run, 1)
    look()
    assert not Notice.objects.filter(event="interrupted").exists()
    died(run, 1)
    look()
    notice = Notice.objects.get(event="interrupted")
    assert notice.at == Event.objects.filter(run=run, kind="interrupted").latest("at").at > run.started_at


def test_a_request_is_told_to_everybody_who_may_launch_that_document(
    document: Document, other_document: Document, editor: Any, stranger: Any, manager: Any, reader: Any,
    administrator: Any, signed_in: Callable[[Any], Client],
) -> None:  # fmt: skip
    options.choose({options.MANAGERS_LAUNCH: "yes", options.DEVELOPERS_LAUNCH: "yes"})
    services.add_crawl_point(document, POINT)
    crawl_requests.ask(document, "somebody", "new pages")
    look()
    assert [of(one) for one in (manager, editor, administrator)] == [["request"]] * 3
    assert of(stranger) == of(reader) == []
    assert because(manager, "request") == "you may launch crawls of this document"
    assert because(administrator, "request") == "you are an administrator"
    assert "Crawl requested" in signed_in(manager).get("/me/notifications/").content.decode()
    assert "Crawl requested" not in signed_in(reader).get("/me/notifications/").content.decode()


@pytest.mark.parametrize("state", ["waiting", "running", "interrupted", "stopping"])
def test_documents_nobody_serves_any_more_are_told_of(document: Document, administrator: Any, state: str) -> None:
    run = make_run(document)
    Excursion.objects.filter(run=run).update(state=state)
    worker = register(run.pk)
    Instance.objects.filter(pk=worker.pk).update(alive=False, seen_at=timezone.now() - timedelta(minutes=2))
    look()
    assert "silent" not in of(administrator), "somebody has reported within three minutes"
    Instance.objects.update(seen_at=timezone.now() - timedelta(minutes=4))
    look()
    assert "silent" in of(administrator)


@pytest.mark.parametrize("quiet", ["the run is paused", "its document is", "the command crawls it", "it is new"])
def test_no_worker_is_missed_where_none_is_wanted(document: Document, administrator: Any, quiet: str) -> None:
    run = make_run(document)
    if quiet == "the run is paused":
        Run.objects.update(state="paused", control="pause")
    if quiet == "its document is":
        Excursion.objects.update(state="paused", control="pause")
    if quiet == "the command crawls it":
        Run.objects.update(driver=register(run.pk))
    if quiet == "it is new":
        Run.objects.update(created_at=timezone.now())
    look()
    assert "silent" not in of(administrator)


def test_what_is_muted_is_not_told(document: Document, editor: Any, administrator: Any) -> None:
    notices.wish(editor.pk, {"run_finished": Wish.How.MUTE})
    limited_run(document)
    look()
    assert of(editor) == ["page_limit"]


def test_a_mail_at_once_says_what_why_and_how_to_turn_it_off(
    post_office: Server, document: Document, editor: Any, administrator: Any
) -> None:
    notices.wish(editor.pk, {"run_finished": Wish.How.NOW, "page_limit": Wish.How.TRAY})
    run = limited_run(document)
    look()
    assert notice_mail.send_due(timezone.now()) == 1 and notice_mail.send_due(timezone.now()) == 0
    [letter] = post_office.to("editor@clearinghouse.example")
    assert letter["Subject"].startswith(f"Clearinghouse: Run {run.pk} finished at limit")
    text = letter.get_content()
    assert f"/crawls/{run.pk}/" in text and "You get this because" in text and "/me/notifications/" in text
    assert Delivery.objects.get(person_id=editor.pk, notice__event="run_finished").mail == "sent"


def test_the_digest_is_one_mail_after_seven_the_next_morning(
    post_office: Server, document: Document, editor: Any, administrator: Any
) -> None:
    limited_run(document)
    look()
    tomorrow = timezone.localtime() + timedelta(days=1)
    assert notice_mail.send_due(tomorrow.replace(hour=6, minute=59)) in (0, 1)
    post_office.letters.clear()
    Delivery.objects.filter(person_id=editor.pk).update(mail="digest", not_before=None)
    Notice.objects.update(at=tomorrow.replace(hour=6, minute=30))
    assert notice_mail.send_due(tomorrow.replace(hour=6, minute=59)) == 0
    assert notice_mail.send_due(tomorrow.replace(hour=7, minute=1)) == 1
    [letter] = post_office.letters
    assert letter["Subject"] == "Clearinghouse: 2 notices of the last day"


def test_a_mail_server_that_refuses_is_tried_again_later_and_not_for_ever(
    post_office: Server, document: Document, editor: Any, administrator: Any
) -> None:
    notices.wish(editor.pk, {"run_finished": Wish.How.NOW, "page_limit": Wish.How.TRAY})
    limited_run(document)
    look()
    post_office.refuses = True
    now = timezone.now()
    assert notice_mail.send_due(now) == 0 and not notice_mail.is_due(now + timedelta(minutes=2))
    post_office.refuses, post_office.hangs_up = False, True
    now += timedelta(hours=1)
    assert notice_mail.is_due(now) and notice_mail.send_due(now) == 0
    post_office.hangs_up = False
    now += timedelta(hours=1)
    assert notice_mail.send_due(now) == 1 and len(post_office.letters) == 1
    Delivery.objects.filter(mail="sent").update(mail="now", tries=4, not_before=None)
    post_office.refuses = True
    notice_mail.send_due(now)
    assert Delivery.objects.filter(mail="failed").count() == 1


@pytest.mark.parametrize("address", ["editor@clearinghouse\n.example", "@", "a b@c@d.example", "\ud800@x.org"])
def test_one_address_that_no_letter_can_carry_stops_neither_the_other_letters_nor_the_webhooks(
    post_office: Server, hook: Receiver, document: Document, project: Project, editor: Any, administrator: Any,
    monkeypatch: pytest.MonkeyPatch, address: str,
) -> None:  # fmt: skip
    notices.set_webhook(project, hook.url, "administrator")
    for person in (editor, administrator):
        notices.wish(person.pk, {"run_finished": Wish.How.NOW, "page_limit": Wish.How.TRAY})
    administrator.email = "a@clearinghouse.example"
    administrator.save()
    limited_run(document)
    look()
    found = get_user_model().objects.filter(pk=editor.pk, is_active=True).first()
    found.email = address  # some cannot even be stored
    real = notice_mail._person
    monkeypatch.setattr(notice_mail, "_person", lambda pk: found if pk == editor.pk else real(pk))
    jobs.tell()
    assert [letter["To"] for letter in post_office.letters] == ["a@clearinghouse.example"]
    assert len(hook.calls) == 2
    left = Delivery.objects.get(person_id=editor.pk, mail="now")
    assert left.tries == 1 and left.error and left.not_before


def test_a_mail_run_that_raises_leaves_the_webhooks_their_turn(
    hook: Receiver, document: Document, project: Project, editor: Any, administrator: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    notices.set_webhook(project, hook.url, "administrator")
    limited_run(document)
    look()

    def broken(now: datetime) -> int:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(notice_mail, "send_due", broken)
    with pytest.raises(RuntimeError):
        jobs.tell()
    assert len(hook.calls) == 2


def test_a_title_cannot_write_mail_headers(
    post_office: Server, document: Document, editor: Any, administrator: Any
) -> None:
    services.add_crawl_point(document, POINT)
    crawl_requests.ask(document, "editor", "x\r\nBcc: everybody@clearinghouse.example")
    administrator.email = "a@clearinghouse.example"
    administrator.save()
    notices.wish(administrator.pk, {"request": Wish.How.NOW})
    look()
    assert notice_mail.send_due(timezone.now()) == 1
    [letter] = post_office.letters
    assert letter["Bcc"] is None and "\n" not in letter["Subject"]


def test_the_tick_writes_notices_and_its_rings_open_doors_of_ours(document: Document, administrator: Any) -> None:
    """Without Redis the ring is lost; the rows stay due, so that the next tick rings again."""
    make_run(document, state="finished", queued=0)
    tick.Tick().round()
    assert {"crawler.jobs.diagnose", "crawler.jobs.tell"} <= work_queues.TRUSTED
    jobs.diagnose()
    jobs.tell()
    Mark.objects.all().delete()
    tick.Tick().round()
    assert "run_finished" in of(administrator)


def test_what_was_told_of_a_document_is_read_only_while_it_may_be_seen(
    document: Document, editor: Any, other_document: Document, signed_in: Callable[..., Client], post_office: Server
) -> None:
    run = make_run(document)
    for key, about in (("a", {"doc_id": document.pk, "run_id": run.pk}), ("b", {"run_id": run.pk}), ("c", {})):
        notice = Notice.objects.create(key=key, event="run_failed", at=timezone.now(), sentence=f"Told {key}", **about)
        Delivery.objects.create(notice=notice, person_id=editor.pk, because="you asked", mail=Delivery.Mail.NOW)
    page = signed_in(editor).get("/").content.decode()
    assert all(f"Told {key}" in page for key in "abc")
    document.assignments.all().delete()
    editor.person.projects.set([other_document.sheet.project])
    page = signed_in(editor).get("/").content.decode()
    assert [key for key in "abc" if f"Told {key}" in page] == ["c"]
    assert notice_mail.send_due(timezone.now()) == 1
    assert [letter["Subject"] for letter in post_office.letters] == ["Clearinghouse: Told c"]
    assert sorted(Delivery.objects.values_list("mail", flat=True)) == ["none", "none", "sent"]
