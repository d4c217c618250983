"""The commands of the crawler as people and schedulers use them: what they print, and their exit codes."""

import io
import json
from typing import Any

import pytest
from django.core.management import call_command, load_command_class
from django.core.management.base import CommandError

from crawler import jobs
from crawler.ledger.explain import sentence_of
from crawler.models import Instance, Run
from crawlpoints import services
from crawlpoints.queries import points_of
from tests.crawler.conftest import crawl, make_document
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases="__all__")


def manage(*arguments: Any) -> dict[str, Any]:
    out = io.StringIO()
    call_command(*map(str, arguments), "--json", stdout=out)
    return json.loads(out.getvalue())


def test_crawl_prints_the_result_as_one_object() -> None:
    with serve({"/": Page(["/a", "/gone", "https://elsewhere.example/"]), "/a": Page()}) as site:
        document = make_document({"url": site.url("/")})
        result = manage("crawl", "--doc", document.pk, "--speed", "fast")
    del result["bytes"], result["seconds"]
    assert result == {
        "run": Run.objects.get().pk, "state": "finished", "found": 4, "queued": 0, "crawled": 2, "unchanged": 0,
        "redirected": 0, "skipped": {"outside_root": 1}, "failed": {"http_4xx": 1},
    }  # fmt: skip
    assert manage("crawl", "--resume", "last")["run"] == result["run"]


def test_a_run_that_is_resumed_takes_the_speed_that_is_named() -> None:
    with serve({"/": Page()}) as site:
        run = manage("launch", "--doc", make_document({"url": site.url("/")}).pk, "--speed", "polite")["run"]
        assert manage("crawl", "--resume", run, "--speed", "fast")["state"] == "finished"
    assert Run.objects.get(pk=run).speed == "fast"


def test_crawl_with_nothing_to_crawl_is_wrong_use() -> None:
    with pytest.raises(CommandError) as stop:
        manage("crawl", "--doc", 12345)
    assert stop.value.returncode == 2


@pytest.mark.parametrize("option", ["--join", "--again"])
def test_crawl_for_a_run_that_does_not_exist_is_wrong_use(option: str) -> None:
    with pytest.raises(CommandError, match="There is no run 12345") as stop:
        manage("crawl", option, 12345)
    assert stop.value.returncode == 2


def test_crawl_of_documents_in_unfinished_runs_needs_a_decision() -> None:
    document = make_document({"url": "http://127.0.0.1:1/"})
    manage("launch", "--doc", document.pk)
    with pytest.raises(CommandError) as stop:
        manage("crawl", "--doc", document.pk)
    assert stop.value.returncode == 4
    assert f"in an unfinished run: {Run.objects.get().pk}. Wait for it" in str(stop.value)
    assert "--resume" in str(stop.value)
    assert not Instance.objects.filter(alive=True).exists(), "who was refused leaves no process to be found dead"


def test_a_crawl_that_stored_nothing_says_for_which_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    with serve({"/": Page(status=404)}) as site:
        call_command("crawl", "--doc", str(make_document({"url": site.url("/")}).pk))
    said = capsys.readouterr().out.splitlines()
    assert said[1:] == ["Nothing was stored: 1 × not found (404). Check by check: manage.py explain DOC URL"]


def test_an_order_that_takes_no_speed_refuses_one() -> None:
    run = manage("launch", "--doc", make_document({"url": "http://127.0.0.1:1/"}).pk)["run"]
    with pytest.raises(CommandError, match=f"ask for it by itself: run {run} speed fast"):
        manage("run", run, "pause", "fast")


def test_help_shows_what_the_command_takes_and_nothing_else() -> None:
    told = load_command_class("crawler", "check_ledger").create_parser("manage.py", "check_ledger").format_help()
    assert "usage: manage.py check_ledger [-h] [--json] [RUN]" in told and "--settings" not in told


def test_launch_runs_and_run_agree_on_a_run() -> None:
    document = make_document({"url": "http://127.0.0.1:1/"})
    launched = manage("launch", "--doc", document.pk, "--speed", "fast")
    assert launched["state"] == "waiting" and launched["left_out"] == []
    run = launched["run"]
    jobs.initialize(run)
    assert manage("run", run, "pause")["state"] == "paused"
    assert manage("run", run, "resume")["state"] == "running"
    manage("run", run, "speed", "medium")
    assert Run.objects.get(pk=run).speed == "medium"
    manage("run", run, "cancel")
    jobs.serve(run)
    assert manage("run", run)["state"] == "cancelled"
    assert manage("runs")["runs"][0]["run"] == run


def test_a_run_that_ended_takes_no_orders() -> None:
    with serve({"/": Page()}) as site:
        run = crawl(make_document({"url": site.url("/")}))
    with pytest.raises(CommandError, match="has ended already: finished"):
        manage("run", run.pk, "stop")


def test_explain_gives_verdict_reason_and_trace() -> None:
    document = make_document({"url": "https://a.example/m/"}, excludes=("https://a.example/m/print/*",))
    inside = manage("explain", document.pk, "https://a.example/m/x.html")
    assert (inside["verdict"], inside["reason"]) == ("depends", "")
    found = manage("explain", document.pk, "https://a.example/m/x.html", "--found-on", "https://a.example/m/")
    assert (found["verdict"], found["depth"]) == ("yes", 1)
    outside = manage("explain", document.pk, "https://a.example/other/")
    assert (outside["verdict"], outside["reason"]) == ("no", "outside_root")
    assert [line["check"] for line in outside["trace"] if line["result"] == "stop"] == ["root"]
    assert manage("explain", document.pk, "https://a.example/m/print/1")["reason"] == "excluded"
    services.set_active(points_of(document), False)
    inactive = manage("explain", document.pk, "https://a.example/m/")
    assert (inactive["verdict"], inactive["reason"]) == ("no", "point_deactivated")
    assert sentence_of(inactive) == "No, because no crawl point of this document is active"


def test_check_ledger_finds_a_number_that_was_changed() -> None:
    with serve({"/": Page()}) as site:
        run = crawl(make_document({"url": site.url("/")}))
    assert manage("check_ledger", run.pk)["runs"] == 1
    run.excursions.update(crawled=7)
    with pytest.raises(CommandError, match="1 of 1 run does not balance"):
        manage("check_ledger")


def test_one_round_of_the_tick_concludes_what_ended_and_reads_without_redis() -> None:
    document = make_document({"url": "http://127.0.0.1:1/"})
    run = manage("launch", "--doc", document.pk)["run"]
    Run.objects.get(pk=run).excursions.update(state="finished", unfinished=False)
    assert manage("tick", "--once") == {"rounds": 1, "failed": []}
    assert Run.objects.get(pk=run).state == "finished"
