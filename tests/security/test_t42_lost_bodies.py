"""Threat T42: a request that lost its body on the way does more than its sender asked for.

A body whose length nobody said is read all the same, and an empty one never means everything.
"""

import http.client
import io
import json
from typing import Any

import pytest

from clearinghouse.web.chunked_bodies import WholeBodies
from crawler.models import Run, Schedule
from crawlpoints.models import CrawlPoint
from tests.api.conftest import point
from tests.flow.conftest import house, prepared_folder
from tests.flow.house import House

__all__ = ["house", "point", "prepared_folder"]
PLAN = {"every": "day", "at": "03:00"}
SAID = {"documents": ["Name what is to be crawled: documents, a project, a view, a crawl_point, or all (true)"]}


@pytest.mark.django_db(databases="__all__")
def test_t42_nothing_named_is_nothing_launched_and_nothing_planned(
    program: Any, administrator: Any, point: CrawlPoint
) -> None:
    asks = program(administrator).ask
    for path, body in (
        ("runs/", {}), ("runs/", {"speed": "fast", "all": False}), ("schedules/", PLAN),
        ("schedules/", PLAN | {"all": False}),
    ):  # fmt: skip
        status, said = asks("POST", path, body)
        assert (status, said["fields"]) == (422, SAID), (path, body)
    lost = program(administrator).client.generic("POST", "/api/v1/runs/")
    assert (lost.status_code, lost.json()["fields"]) == (422, SAID)
    both = {"all": True, "documents": [1]}
    assert asks("POST", "runs/", both)[1]["fields"] == {"all": ["Leave this away, or documents"]}
    assert not Run.objects.exists() and not Schedule.objects.exists()
    assert asks("POST", "runs/", {"all": True})[0] == 201
    assert asks("POST", "schedules/", PLAN | {"all": True})[0] == 201


@pytest.mark.django_db(databases="__all__")
def test_t42_the_launch_form_names_its_scope(signed_in: Any, administrator: Any, point: CrawlPoint) -> None:
    refused = signed_in(administrator).post("/crawls/launch/", {"speed": "polite", "when": "now"})
    assert refused.status_code == 422 and not Run.objects.exists()
    assert "Choose which documents to crawl" in refused.content.decode()


def test_t42_a_chunked_body_is_read_by_the_web_server(house: House) -> None:
    """As the attack had it: one document was named, in pieces, and a run of all of them began."""
    house.manage("load_demo")
    made = "from django.contrib.auth import get_user_model as m; from clearinghouse.accounts.keys import api_keys;"
    made += 'print(api_keys.create(m().objects.get(username="administrator"), "test")[1])'
    key = house.run("shell", "-c", made).stdout.split()[-1]
    house.start_web()
    body = json.dumps({"documents": [2], "speed": "fast"}).encode()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json", "Transfer-Encoding": "chunked"}
    web = http.client.HTTPConnection("127.0.0.1", house.port, timeout=30)
    web.request("POST", "/api/v1/runs/", iter([body[:7], body[7:]]), headers, encode_chunked=True)
    answer = web.getresponse()
    assert (answer.status, json.loads(answer.read())["counts"]["documents"]) == (201, 1)
    web.close()


def test_t42_who_is_refused_before_a_large_body_was_read_is_told_so(house: House) -> None:
    """Its answer was lost where the process closed the connection on what it had not read: 503 in place of 401."""
    house.start_front()
    for _ in range(5):
        web = http.client.HTTPConnection("127.0.0.1", house.port, timeout=30)
        web.request("PUT", "/api/v1/me/", b" " * 2_000_000, {"Content-Type": "application/json"})
        answer = web.getresponse()
        assert (answer.status, json.loads(answer.read())["code"]) == (401, "sign_in")
        web.close()


def test_t42_a_body_without_an_end_is_not_read_for_ever() -> None:
    told: list[str] = []
    environ = {
        "HTTP_TRANSFER_ENCODING": "chunked",
        "wsgi.input_terminated": True,
        "wsgi.input": io.BytesIO(b" " * 9_000_000),
    }
    WholeBodies(lambda *_: [b"let in"])(environ, lambda status, headers: told.append(status))
    assert told == ["413 Content Too Large"]


def test_t42_what_ends_nobody_knows_where_is_refused() -> None:
    told: list[str] = []
    environ = {"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input": None}
    text = b"".join(WholeBodies(lambda *_: [b"let in"])(environ, lambda status, headers: told.append(status)))
    assert told == ["411 Length Required"] and b"Content-Length" in text


def test_t42_a_body_with_its_length_is_left_alone() -> None:
    environ = {"CONTENT_LENGTH": "3", "wsgi.input": object()}
    assert WholeBodies(lambda given, start: [given is environ and b"same"])(environ, print) == [b"same"]  # type: ignore[list-item]
