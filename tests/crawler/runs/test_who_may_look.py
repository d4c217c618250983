"""Who comes in: pages work, need sign-in, do not exist for strangers, are not changed by readers or by looking."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from clearinghouse.library.models import Document
from crawler.models import Event, Excursion, LedgerEntry, Message, Run
from tests.crawler.runs.rows import make_run

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]

LISTS = ["/", "/crawls/", "/crawls/?tab=waiting", "/crawls/?tab=finished"]
OF_A_RUN = [
    "",
    "?chart=table",
    "?live=off",
    "?state=waiting",
    "pages/",
    "urls/",
    "errors/",
    "log/",
    "settings/",
    "settings/?compare=1",
    "log/?follow=1",
    "hosts/",
    "tree/",
    "changes/",
    "errors/?list=all",
    "live",
]
COMMANDS = ["do/pause/", "do/resume/", "do/stop/", "cancel/", "speed/"]


def paths(run: Run) -> list[str]:
    entry = LedgerEntry.objects.filter(excursion__run=run, version_id__isnull=False).first()
    parts = ["text", "source", "metas", "out", "in", "versions"]
    of_page = [f"/crawls/{run.pk}/pages/{entry.pk}/?show={part}" for part in parts] if entry else []
    of_page += [f"/crawls/{run.pk}/pages/{entry.pk}/copy"] if entry else []
    return [f"/crawls/{run.pk}/{path}" for path in OF_A_RUN] + of_page


def test_every_page_works_for_an_administrator(signed_in: SignedIn, administrator: Any, run: Run) -> None:
    browser = signed_in(administrator)
    for path in [*LISTS, "/crawls/launch/", f"/crawls/{run.pk}/cancel/", *paths(run)]:
        assert browser.get(path).status_code == 200, path


def test_every_page_works_for_the_editor_and_the_reader(
    signed_in: SignedIn, editor: Any, reader: Any, run: Run
) -> None:
    for person in (editor, reader):
        browser = signed_in(person)
        for path in [*LISTS, *paths(run)]:
            assert browser.get(path).status_code == 200, path


def test_every_page_needs_sign_in(client: Client, run: Run) -> None:
    for path in [*LISTS, "/crawls/launch/", *paths(run)]:
        answer = client.get(path)
        assert answer.status_code == 302 and answer["Location"].startswith("/sign-in/"), path


def test_help_is_open_to_everyone(client: Client, db: Any) -> None:
    for topic in ("", "documents/", "crawl-points/", "runs/", "search/", "propagation/"):
        assert client.get(f"/help/{topic}").status_code == 200
    assert client.get("/help/nonsense/").status_code == 404


def test_a_run_does_not_exist_for_a_stranger(
    signed_in: SignedIn, stranger: Any, document: Document, second_document: Document
) -> None:
    run = make_run(document, second_document)
    browser = signed_in(stranger)
    for path in paths(run):
        assert browser.get(path).status_code == 404, path
    assert "Run " not in browser.get("/crawls/").content.decode()


def test_somebody_sees_only_their_documents_of_a_run(signed_in: SignedIn, editor: Any, run: Run) -> None:
    browser = signed_in(editor)
    page = browser.get(f"/crawls/{run.pk}/").content.decode()
    assert "Measures of hospital quality" in page and "Asthma guideline" not in page
    assert "Crawling 2 documents" in page
    for tab in ("pages", "urls", "errors", "log", "settings"):
        assert "Asthma" not in browser.get(f"/crawls/{run.pk}/{tab}/").content.decode(), tab


def test_a_stranger_sees_their_own_document_of_the_same_run(signed_in: SignedIn, stranger: Any, run: Run) -> None:
    page = signed_in(stranger).get(f"/crawls/{run.pk}/").content.decode()
    assert "Asthma guideline" in page and "Measures of hospital quality" not in page
    hidden = LedgerEntry.objects.filter(excursion__run=run).first()
    assert hidden is not None
    assert signed_in(stranger).get(f"/crawls/{run.pk}/pages/{hidden.pk}/").status_code == 404


def test_only_administrators_control_a_run(
    signed_in: SignedIn, editor: Any, reader: Any, manager: Any, run: Run
) -> None:
    for person in (editor, reader, manager):
        browser = signed_in(person)
        for command in COMMANDS:
            assert browser.post(f"/crawls/{run.pk}/{command}", {"speed": "fast"}).status_code == 403, command
        assert browser.get("/crawls/launch/").status_code == 403
        assert browser.post("/crawls/launch/", {"what": "all", "speed": "polite"}).status_code == 403
        assert "Cancel and discard" not in browser.get(f"/crawls/{run.pk}/").content.decode()
    run.refresh_from_db()
    assert (run.control, run.speed, Run.objects.count()) == ("", "polite", 1)


def test_a_stranger_cannot_control_what_does_not_exist_for_them(
    signed_in: SignedIn, stranger: Any, document: Document
) -> None:
    run = make_run(document)
    for command in COMMANDS:
        assert signed_in(stranger).post(f"/crawls/{run.pk}/{command}", {"speed": "fast"}).status_code == 404


def test_get_changes_nothing(signed_in: SignedIn, administrator: Any, run: Run) -> None:
    def everything() -> list[Any]:
        return [list(model.objects.order_by("pk").values()) for model in (Run, Excursion, LedgerEntry, Message, Event)]

    before = everything()
    browser = signed_in(administrator)
    for path in [*LISTS, "/crawls/launch/", f"/crawls/{run.pk}/cancel/", *paths(run)]:
        browser.get(path)
    for command in ("do/pause/", "do/stop/", "speed/"):
        assert browser.get(f"/crawls/{run.pk}/{command}").status_code == 405
    assert everything() == before


def test_nonsense_in_the_address_is_ignored_or_unknown(signed_in: SignedIn, administrator: Any, run: Run) -> None:
    browser = signed_in(administrator)
    odd = "?outcome=x&reason=y&doc=z&depth=-1&status=9e9&page=999&sort=zz&why=%00"
    for query in (odd, "?q=%00%F0%9F%98%80&depth=99999999999999999999"):
        assert browser.get(f"/crawls/{run.pk}/urls/{query}").status_code == 200
    assert browser.get(f"/crawls/{run.pk}/live?since=%00&rows=a,b,,9").status_code == 200
    assert browser.get(f"/crawls/{run.pk}/nonsense/").status_code == 404
    assert browser.get("/crawls/999999/").status_code == 404
    assert browser.post(f"/crawls/{run.pk}/do/nonsense/").status_code == 404


def test_no_user_id_and_no_password_stands_on_a_page(
    signed_in: SignedIn, reader: Any, document: Document, second_document: Document
) -> None:
    run = make_run(document, second_document)
    excursion = Excursion.objects.filter(run=run).first()
    assert excursion is not None
    excursion.snapshot["points"][0] |= {"login": "the-account", "password": "swordfish"}
    excursion.save()
    browser = signed_in(reader)
    for path in paths(run):
        page = browser.get(path).content.decode()
        assert "swordfish" not in page and "the-account" not in page, path


def test_a_person_without_a_role_is_told_so(signed_in: SignedIn, django_user_model: Any) -> None:
    browser = signed_in(django_user_model.objects.create_user("newcomer"))
    assert "You have no role yet" in browser.get("/").content.decode()
    assert browser.get("/crawls/").status_code == 404
