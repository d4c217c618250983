"""What stands behind a result is one link away, with exactly the pages the link promises; pages narrow by age and
language."""

import json
import re
from datetime import timedelta
from html import unescape

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from .library import publish

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])

SAID = "The order of the wards is the order of the day, and it is read aloud each morning to all who work here. "
WARDS = [{"title": f"Ward {n}", "text": f"order of ward {n}", "url": f"https://a.org/wards/{n}"} for n in range(5)]
TWINS = [{"title": "The order", "text": SAID * 4, "url": f"https://{site}.org/{site}/order"} for site in "bc"]


def page(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def link(text: str, said: str) -> str:
    """The address behind these words."""
    found = re.search(rf'<a[^>]* ?href="([^"]*)"[^>]*>{re.escape(said)}', text)
    assert found, said
    return "/search/" + unescape(found[1])


def test_pages_that_are_alike_are_one_result_and_a_link_to_the_others(client: Client, db: None) -> None:
    long_numbers = [one | {"id": 98_765_432_109 + n} for n, one in enumerate(TWINS)]
    publish("primary", WARDS + long_numbers)
    text = page(client, "/search/?q=order")
    assert "<strong>3 results</strong>" in text and len(re.findall(r"org/[bc]/order", text)) == 1
    assert "(7 pages with similar ones and more of a folder)" in text
    others = page(client, link(text, "1 similar page"))
    assert "<strong>1 page</strong>" in others and "Pages like one of the results" in others
    assert "<strong>3 results</strong>" in page(client, link(others, "Pages like one of the results"))


THREE = {1: ("Measures", "Quality"), 2: ("Guideline", "Guidelines"), 3: ("Data", "Quality")}


def test_an_address_of_several_documents_is_one_result_that_names_them(client: Client, db: None, capsys) -> None:
    """Also where one of them was crawled later and holds other words."""
    pages = [
        {"title": f"Page {n}", "text": f"order {'of old' if doc_id == 2 else 'of now'} {n}", "doc_id": doc_id,
         "url": f"https://a.org/{n}"}
        for n in range(11) for doc_id in (1, 2)
    ]  # fmt: skip
    publish(
        "primary", [*pages, {"title": "Else", "text": "order", "doc_id": 3, "url": "https://a.org/x"}], titles=THREE
    )
    text = page(client, "/search/?q=order")
    assert "<strong>12 pages</strong>" in text and "similar" not in text and text.count('class="result"') == 10
    assert re.search(r"Documents: <a [^>]*document=\d\">[A-Z]\w+</a>, <a [^>]*document=\d\">[A-Z]\w+</a></li>", text)
    assert page(client, link(text, '<span class="vh">Page </span>2')).count('class="result"') == 2
    assert "a.org <b>12</b>" in text and "Guideline <b>11</b>" in text and "Quality <b>12</b>" in text
    narrowed = page(client, "/search/?q=order&document=2")
    assert "<strong>11 pages</strong>" in narrowed and "Documents:" not in narrowed
    capsys.readouterr()
    call_command("search", "order", "--limit", "100", "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["total"] == len(told["results"]) == 12


def test_pages_like_one_of_an_address_of_two_documents_are_other_addresses(client: Client, db: None) -> None:
    copy = {"title": "The order", "text": SAID * 4}
    publish("primary", [
        *(copy | {"url": "https://a.org/order", "doc_id": doc_id} for doc_id in (1, 2)),
        copy | {"url": "https://a.org/print/order"},
    ], titles=THREE)  # fmt: skip
    others = page(client, link(page(client, "/search/?q=order"), "1 similar page"))
    assert "<strong>1 page</strong>" in others


def test_two_results_of_a_folder_and_a_link_to_all_of_them(client: Client, db: None) -> None:
    publish("primary", WARDS + TWINS)
    text = page(client, "/search/?q=order")
    assert len(re.findall(r'href="https://a\.org/wards/\d"', text)) == 2
    everything = page(client, link(text, "All 5 from a.org/wards/"))
    assert "<strong>5 pages</strong>" in everything and "In a.org/wards/" in everything
    assert len(re.findall(r'href="https://a\.org/wards/\d"', everything)) == 5


def test_pages_narrow_by_when_they_were_crawled_and_by_their_language(client: Client, db: None) -> None:
    now = timezone.now()
    publish("primary", [
        {"title": "New", "text": "order of today", "crawled_at": now, "language": "en"},
        {"title": "Neu", "text": "order von heute", "crawled_at": now - timedelta(days=20), "language": "de"},
        {"title": "Old", "text": "order of old", "crawled_at": now - timedelta(days=800), "language": "en"},
    ])  # fmt: skip
    text = page(client, "/search/?q=order")
    facet = text[text.index("Date crawled") :]
    assert facet.index("Last week <b>1</b>") < facet.index("Last month <b>2</b>") < facet.index("Older <b>1</b>")
    assert "Last year" not in text, "it would say the same as the last month"
    assert "<strong>1 page</strong>" in page(client, link(text, "Last week"))
    german = page(client, link(text, "German"))
    assert "<strong>1 page</strong>" in german and ">Neu<" in german
    assert "<strong>3 pages</strong>" in page(client, "/search/?q=order&crawled=someday&similar=x")
