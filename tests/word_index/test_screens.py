"""The word index on screen: a word with its pages, a page with its words and links."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from lxml import html

from clearinghouse.library.models import Document
from clearinghouse.published.models import LexiconState, LexiconWord
from crawler.models import LedgerEntry
from crawler.word_index import page_counts
from tests.search.library import publish
from tests.word_index.conftest import Published

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]


def text_of(answer: Any) -> str:
    assert answer.status_code == 200
    return " ".join(" ".join(html.fromstring(answer.content).xpath("//main")[0].itertext()).split())


def test_a_word_is_shown_with_its_id_and_the_pages_that_hold_it(signed_in: SignedIn, administrator, published):
    shown = text_of(signed_in(administrator).get("/index/word/?w=Ward"))
    number = LexiconWord.objects.using("primary").get(word="ward").pk
    assert "Word: ward" in shown and f"The id of this word is {number}." in shown
    assert published.address in shown and "/ 2 1, 2" in shown


def test_a_page_shows_its_words_links_and_backlinks(signed_in: SignedIn, administrator, published: Published):
    browser, door = signed_in(administrator), f"/index/page/{published.ids['/m/']}/"
    words = text_of(browser.get(door))
    assert "Backlinks 1 page" in words and "Words 4" in words and "Document Measures" in words
    assert "alpha" in text_of(browser.get(f"{door}?show=children"))
    parents = browser.get(f"{door}?show=parents")
    assert "Links in 1" in text_of(parents)
    assert f'href="/index/page/{published.ids["/m/a.html"]}/?server=primary"' in parents.content.decode()
    assert "About it" in text_of(browser.get(f"{door}?show=metas"))
    assert "16 Jun 2022" in text_of(browser.get(f"/index/page/{published.ids['/m/a.html']}/"))


def test_a_stored_page_of_a_run_leads_to_its_words(signed_in: SignedIn, administrator, published: Published):
    entry = LedgerEntry.objects.select_related("excursion").get(url=f"{published.address}/m/")
    page = signed_in(administrator).get(f"/crawls/{entry.excursion.run_id}/pages/{entry.pk}/")
    assert f'href="/index/page/{published.ids["/m/"]}/"' in page.content.decode()


def test_several_words_stopwords_and_nonsense_are_explained(signed_in: SignedIn, administrator, published: Published):
    browser = signed_in(administrator)
    assert "one word at a time" in text_of(browser.get("/index/word/?w=ward+bed"))
    assert "its id is 0" in text_of(browser.get("/index/word/?w=the"))
    assert "Enter a word with letters or digits" in text_of(browser.get("/index/word/?w=%E2%80%A6"))
    assert "No page holds this word." in text_of(browser.get("/index/word/?w=nowhere"))


def test_a_long_list_is_shown_in_parts(signed_in: SignedIn, administrator):
    publish("primary", [{"text": f"ward {number}", "title": f"Page {number}"} for number in range(60)])
    page_counts.follow("primary")
    browser = signed_in(administrator)
    first = browser.get("/index/word/?w=ward")
    assert "Pages that hold it 60" in text_of(first)
    further = html.fromstring(first.content).xpath("//a[text()='Next pages']/@href")[0]
    second = text_of(browser.get(f"/index/word/{further}"))
    assert "Page 59" in second and "Page 0 http" not in second and "Next pages" not in second


def test_pages_of_documents_somebody_may_not_see_do_not_exist(signed_in: SignedIn, editor, document: Document):
    pages = [
        {"doc_id": document.pk, "page_id": 1, "text": "ward", "title": "Mine"},
        {"doc_id": document.pk + 99, "page_id": 2, "text": "ward", "title": "Theirs"},
    ]
    publish("primary", pages)
    browser = signed_in(editor)
    shown = text_of(browser.get("/index/word/?w=ward"))
    assert "Mine" in shown and "Theirs" not in shown
    assert browser.get("/index/page/1/").status_code == 200
    assert browser.get("/index/page/2/").status_code == 404


def test_a_number_that_is_not_counted_yet_is_left_out(signed_in: SignedIn, administrator):
    publish("primary", [{"text": "ward"}])
    shown = text_of(signed_in(administrator).get("/index/word/?w=ward"))
    assert "Pages that hold it The pages of generation 1 are being counted." in shown
    assert not LexiconState.objects.using("primary").exists()


def test_another_server_is_asked_by_name(signed_in: SignedIn, administrator):
    publish("backup", [{"text": "ward", "title": "Only there"}])
    browser = signed_in(administrator)
    assert "Only there" in text_of(browser.get("/index/word/?w=ward&server=backup"))
    assert "nothing published yet" in text_of(browser.get("/index/word/?w=ward&server=nonsense"))
    assert browser.get("/index/page/1/?server=backup").status_code == 200
