"""What load balancers, process managers and Prometheus ask: /healthz, /readyz, /metrics."""

import io
import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from clearinghouse.operations.health import database_check
from clearinghouse.operations.logs import OneObject
from clearinghouse.published.models import LiveGeneration, PublicSwitch
from crawler.models import Excursion, Mark, Run

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
TOKEN = "a-token-of-forty-signs-0123456789abcdefgh"
SAMPLE = re.compile(r'clearinghouse_[a-z_]+(\{[a-z]+="[a-z0-9_]+"\})? -?[0-9.e+]+')


@pytest.fixture(autouse=True)
def asked_anew() -> None:
    cache.clear()


def test_what_is_logged_of_a_request_names_it_as_its_answer_does() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(OneObject())
    logging.getLogger("django.request").addHandler(handler)
    try:
        answer = Client(REMOTE_ADDR="203.0.113.9").get("/metrics")
    finally:
        logging.getLogger("django.request").removeHandler(handler)
    told = json.loads(stream.getvalue())
    assert (told["message"], told["request"]) == ("Not Found: /metrics", answer["X-Request-Id"])


def test_healthz_answers_without_asking_any_database() -> None:
    with (
        CaptureQueriesContext(connections["default"]) as first,
        CaptureQueriesContext(connections["webcrawl"]) as other,
    ):
        answer = Client().get("/healthz")
    assert (answer.status_code, answer.content, len(first), len(other)) == (200, b"ok\n", 0, 0)


def test_who_is_signed_in_is_answered_without_asking_who_that_is(editor: Any) -> None:
    """Who looks there in a browser while the library is away: the session is in it."""
    browser = Client()
    browser.force_login(editor)
    with CaptureQueriesContext(connections["default"]) as asked:
        answer = browser.get("/healthz")
    assert (answer.status_code, answer.content, len(asked), len(answer.cookies)) == (200, b"ok\n", 0, 0)


def test_readyz_says_ready_and_what_it_works_without() -> None:
    answer = Client().get("/readyz")
    assert answer.status_code == 200
    assert answer.content.decode().splitlines() == [
        "ready",
        "Redis does not answer. Crawls wait until it does; pages and searches work on.",
    ]


def test_readyz_names_what_is_missing_in_a_sentence_and_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_check, "file_of", _missing("webcrawl"))
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.content.decode().splitlines()[0] == "The database WebCrawl does not answer."
    assert "sqlite" not in answer.content.decode()


def test_a_production_server_that_serves_nobody_sends_nobody_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_check, "file_of", _missing("backup"))
    PublicSwitch.objects.using("webcrawl").update_or_create(pk=1, defaults={"serving": "primary"})
    answer = Client().get("/readyz")
    assert answer.status_code == 200 and "doc_library (backup) does not answer" in answer.content.decode()
    PublicSwitch.objects.using("webcrawl").update(serving="backup")
    assert Client().get("/readyz").status_code == 200, "for two seconds it says the same to everybody"
    cache.clear()
    assert Client().get("/readyz").status_code == 503


def test_a_database_of_an_older_version_is_not_ready() -> None:
    with connections["primary"].cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'published'")
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert "The database doc_library (primary) is not prepared for this version." in answer.content.decode()


def test_metrics_are_lines_that_prometheus_reads() -> None:
    run = Run.objects.create(requested_by="test", state="running", created_at=timezone.now())
    Excursion.objects.create(run=run, doc_id=1, title="Measures", state="running", found=9, queued=7, failed=2)
    Mark.objects.create(name="tick", at=timezone.now())
    LiveGeneration.objects.using("primary").update_or_create(pk=1, defaults={"generation": 41})
    text = Client().get("/metrics").content.decode()
    lines = text.splitlines()
    assert [line for line in lines if not line.startswith("# ") and not SAMPLE.fullmatch(line)] == []
    for line in (
        'clearinghouse_runs{state="running"} 1',
        f'clearinghouse_run_pages_per_minute{{run="{run.pk}"}} 0',
        'clearinghouse_open_addresses{outcome="queued"} 7',
        'clearinghouse_open_addresses{outcome="failed"} 2',
        'clearinghouse_generation{target="primary"} 41',
        'clearinghouse_database_up{database="backup"} 1',
        "clearinghouse_redis_up 0",
    ):
        assert line in lines
    names = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(names) == len(set(names)), "Prometheus wants those of one name in one block"
    assert "clearinghouse_tick_age_seconds" in names and "clearinghouse_disk_free_bytes" in names


def test_metrics_ask_as_many_questions_of_a_hundred_runs_as_of_one() -> None:
    def questions() -> int:
        with CaptureQueriesContext(connections["webcrawl"]) as asked:
            Client().get("/metrics")
        return len(asked)

    def add(runs: int) -> None:
        made = [Run(requested_by="test", state="finished", created_at=timezone.now()) for _ in range(runs)]
        Run.objects.bulk_create(made)

    add(1)
    one = questions()
    add(100)
    assert questions() == one <= 40


def test_metrics_of_a_house_with_a_database_down_still_tell_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_check, "file_of", _missing("webcrawl"))
    text = Client().get("/metrics").content.decode()
    assert 'clearinghouse_database_up{database="webcrawl"} 0' in text
    assert "clearinghouse_runs" not in text and 'clearinghouse_generation{target="primary"}' in text


def test_an_empty_database_in_the_place_of_a_lost_one_is_not_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_check, "steps_behind", lambda alias: 9 if alias == "primary" else 0)
    assert 'clearinghouse_database_up{database="primary"} 0' in Client().get("/metrics").content.decode()


def test_metrics_do_not_exist_for_who_asks_from_elsewhere_or_through_a_proxy() -> None:
    assert Client(REMOTE_ADDR="203.0.113.9").get("/metrics").status_code == 404
    assert Client(REMOTE_ADDR="").get("/metrics").status_code == 404
    for mark in ("X-Forwarded-For", "X-Real-IP", "Forwarded", "Via"):
        assert Client(headers={mark: "203.0.113.9"}).get("/metrics").status_code == 404, mark


def test_in_production_only_the_token_opens_the_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARINGHOUSE_ENV", "production")
    assert Client().get("/metrics").status_code == 404
    monkeypatch.setenv("CLEARINGHOUSE_METRICS_TOKEN", TOKEN)
    far = {"REMOTE_ADDR": "203.0.113.9"}
    assert Client(**far, headers={"Authorization": f"Bearer {TOKEN}"}).get("/metrics").status_code == 200
    assert Client(**far, headers={"Authorization": "Bearer wrong"}).get("/metrics").status_code == 404
    assert Client(**far, headers={"Authorization": "Bearer "}).get("/metrics").status_code == 404


def _missing(alias: str) -> Any:
    """As if the file of this database did not stand where it should."""
    return lambda asked: Path("/nowhere/at-all.sqlite3") if asked == alias else None
