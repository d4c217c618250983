"""Threat T18: no form of ours sends a browser to another site, whatever stands in next or Referer."""

from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.accounts.routes import arguments, everybody, project_one, routes, undone
from tests.accounts.test_routes import browser, reachable, row, send
from tests.accounts.test_signing_in import DISGUISES

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
LEAD_BACK = ("notices-read", "notices-mute", "finding-decide", "error-mark")  # they obey `next`
NAMES = ("next", "back", "url_back", "return", "redirect", "to")


def test_t18_every_redirect_stays_here(db: Any) -> None:
    own, other = project_one()
    people = everybody(own, other)
    given = arguments(people, own)
    redirects = 0
    posts = [route for route in routes() if route.name and reachable(route) and not route.name.startswith("admin:")]
    for number, route in enumerate(posts):
        path = route.path(given)
        for target in DISGUISES[::3] if route.name in LEAD_BACK else DISGUISES[number % 33 :: 33]:
            client = browser(people, "administrator", headers={"Referer": "https://evil.example/"})
            with undone():
                entries = row(route)[2] | dict.fromkeys(NAMES, target)
                answers = [client.get(path, dict.fromkeys(NAMES, target)), send(client, route, "POST", path, entries)]
            for response in answers:
                if 300 <= response.status_code < 400:
                    redirects += 1
                    assert urlsplit(response.url)[:2] == ("", ""), (route.name, target, response.url)
                    assert "evil" not in urlsplit(response.url).path, (route.name, target)
    assert redirects > 40


def test_t18_a_hit_is_opened_by_its_number_and_only_over_http(client: Any, db: Any) -> None:
    for path in ("/search/result/1/?url=https://evil.example/", "/search/cached/1/?next=//evil.example"):
        assert client.get(path).status_code == 404
