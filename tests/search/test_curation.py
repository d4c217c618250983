"""Search curation: who may, what it does to the public search within seconds, and how it is taken back."""

import pytest
from django.core.management import call_command
from django.db import OperationalError, connections

from clearinghouse.audit.models import Entry
from clearinghouse.library.models import Project
from clearinghouse.search.curation import rules_cache, services
from clearinghouse.search.curation.services import Given
from clearinghouse.search.models import SearchRule
from tests.people import PROJECT

from .library import publish

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
URL = "https://quality.example.org/best.html"
PAGES = [
    {"title": "Heart care", "text": "heart attack care program", "doc_id": 1},
    {"title": "Infarction", "text": "myocardial infarction treatment", "doc_id": 1},
    {"title": "Chosen", "text": "the page to read first", "url": URL, "doc_id": 1},
    {"title": "Asthma", "text": "asthma care", "doc_id": 2},
]
TITLES = {1: ("Measures", PROJECT), 2: ("Guideline", "Guidelines")}


@pytest.fixture
def pages(db) -> list[int]:
    return publish("primary", PAGES, titles=TITLES)


def rule(kind: str, words: str, others: str = "", **more) -> SearchRule:
    return services.add(Given(kind, words, others, **more))


def search(client, query: str) -> str:
    answer = client.get(f"/search/?q={query}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_synonym_is_found_at_once_and_the_page_says_so(client, pages):
    assert "Infarction" not in search(client, "heart+attack")
    rule("synonym", "heart attack", "myocardial infarction")
    text = search(client, "heart+attack")
    assert "Infarction" in text and "<strong>2 pages</strong>" in text
    assert "Also searched for: myocardial infarction." in text
    assert "Searched for:" not in text


def test_a_stopword_is_left_out_of_queries(client, pages):
    assert "“program” was left out" not in search(client, "asthma+program")
    rule("stopword", "program initiative")
    text = search(client, "asthma+program")
    assert "“program” was left out" in text and "<strong>1 page</strong>" in text


def test_a_best_bet_is_shown_first_and_marked_and_once(client, pages):
    rule("best_bet", "care", f"{URL}\nhttps://quality.example.org/0.html\nhttps://nowhere.example/")
    text = search(client, "care")
    assert text.count("Recommended</span>") == 2
    assert text.index("Chosen") < text.index(">Heart ") < text.index(">Asthma<")
    assert text.count("/search/result/") == 3
    assert "Recommended</span>" not in search(client, "care&page=2")


def test_the_command_finds_what_the_page_finds(pages, capsys):
    rule("synonym", "heart attack", "myocardial infarction")
    rule("best_bet", "heart attack", URL)
    call_command("search", "heart attack")
    said = capsys.readouterr().out
    assert "Also searched for: myocardial infarction." in said and "2. Heart care" in said and "3. Infarction" in said
    assert f"1. Chosen (recommended)\n   {URL}" in said


def test_a_best_bet_helps_also_where_no_page_matches(client, pages):
    rule("best_bet", "nonsense", URL)
    text = search(client, "nonsense")
    assert "Chosen" in text and "No page was found" not in text and "<strong>1 page</strong>" in text


def test_a_best_bet_of_a_project_is_a_page_of_that_project(client, pages, project):
    rule("best_bet", "care", "https://quality.example.org/3.html", project_id=project.pk, project=PROJECT)
    assert "Recommended</span>" not in search(client, "care")
    rule("best_bet", "care", URL, project_id=project.pk, project=PROJECT)
    assert "Recommended</span>" in search(client, "care")
    assert "Recommended</span>" not in search(client, "care+project:guidelines")


def test_without_the_webcrawl_database_the_search_works_as_it_is(client, pages):
    rule("synonym", "heart", "infarction")

    def away(execute, sql, *rest):
        raise OperationalError("no connection")

    with connections["webcrawl"].execute_wrapper(away):
        rules_cache.forget()
        text = search(client, "heart")
    assert "<strong>1 page</strong>" in text and "Also searched for" not in text


def test_the_rules_are_read_every_few_seconds_not_with_every_search(client, pages, django_assert_num_queries):
    search(client, "heart")
    with django_assert_num_queries(1, using="webcrawl"):  # who serves the public
        search(client, "heart")


# ---- the screen ----


def test_a_manager_adds_updates_deletes_and_takes_back(signed_in, manager, project):
    browser = signed_in(manager)
    sent = {"kind": "synonym", "words": " Heart  attack ", "others": "infarction\n\n", "where": project.pk}
    assert browser.post("/settings/search/", sent).status_code == 302
    made = SearchRule.objects.get()
    assert (made.words, made.lines, made.project) == ("Heart attack", ["infarction"], PROJECT)
    page = browser.get("/settings/search/?kind=synonym").content.decode()
    assert "Heart attack" in page and "Added Heart attack" in page
    change = sent | {"words": "heart", "both_ways": "on", "version": made.version}
    assert browser.post(f"/settings/search/{made.pk}/", change).status_code == 302
    made.refresh_from_db()
    assert (made.words, made.both_ways, made.version) == ("heart", True, 2)
    browser.post(f"/settings/search/{made.pk}/delete/")
    page = browser.get("/settings/search/").content.decode()
    assert "Deleted heart." in page and "Undo" in page and "Show 1 deleted" in page
    browser.post(f"/settings/search/{made.pk}/restore/")
    assert not SearchRule.objects.get().deleted
    actions = list(Entry.objects.filter(kind="searchrule").order_by("id").values_list("actor", "action"))
    assert actions == [("manager", "add"), ("manager", "change"), ("manager", "delete"), ("manager", "restore")]
    changed = Entry.objects.get(kind="searchrule", action="change")
    assert (changed.before["words"], changed.after["words"]) == ("Heart attack", "heart")


def test_deleted_rules_do_not_count(client, pages):
    made = rule("synonym", "heart", "infarction")
    services.delete(made)
    assert "Also searched for" not in search(client, "heart")


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"kind": "synonym", "words": "...", "others": "x"}, "Enter at least one word"),
        ({"kind": "synonym", "words": "heart", "others": " \n"}, "Enter at least one synonym"),
        ({"kind": "synonym", "words": "heart", "others": "!!"}, "has no letters or digits"),
        ({"kind": "synonym", "words": "heart", "others": "x\n" * 60}, "Enter at most 50 lines. There are 60"),
        ({"kind": "best_bet", "words": "heart", "others": ""}, "Enter an address to recommend"),
        ({"kind": "best_bet", "words": "heart", "others": "javascript:alert(1)"}, "is not a web address"),
        ({"kind": "stopword", "words": ""}, "Enter at least one word"),
    ],
)
def test_what_cannot_be_saved_is_said_and_kept(signed_in, administrator, sent, message):
    answer = signed_in(administrator).post("/settings/search/", sent)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert message in page and "<title>Error: " in page and "There is a problem" in page
    assert SearchRule.objects.count() == 0


def test_who_saves_what_somebody_changed_meanwhile_sees_both(signed_in, administrator):
    made = rule("synonym", "heart", "cardiac")
    services.update(made, Given("synonym", "heart", "coronary"), 1)
    browser = signed_in(administrator)
    sent = {"words": "heart", "others": "mine", "where": "", "version": "1"}
    answer = browser.post(f"/settings/search/{made.pk}/", sent)
    page = answer.content.decode()
    assert answer.status_code == 409 and "coronary" in page and "mine" in page
    made.refresh_from_db()
    assert made.lines == ["coronary"]
    assert 'name="version" value="2"' in page
    assert browser.post(f"/settings/search/{made.pk}/", sent | {"version": "2"}).status_code == 302


def test_a_manager_changes_the_rules_of_own_projects_only(signed_in, manager, project):
    other = Project.objects.create(name="Other")
    house = rule("synonym", "house-wide", "all")
    foreign = rule("synonym", "foreign-rule", "x", project_id=other.pk, project="Other")
    browser = signed_in(manager)
    page = browser.get("/settings/search/").content.decode()
    assert "house-wide" in page and "foreign-rule" not in page and f"/settings/search/{house.pk}/" not in page
    assert browser.get(f"/settings/search/{house.pk}/").status_code == 403
    assert browser.post(f"/settings/search/{foreign.pk}/delete/").status_code == 404
    for where in ("", other.pk):
        sent = {"kind": "stopword", "words": "program", "where": where}
        assert browser.post("/settings/search/", sent).status_code == 422
    assert SearchRule.objects.count() == 2


def test_the_rules_of_a_renamed_project_go_with_it(signed_in, administrator, project):
    made = rule("synonym", "heart", "cardiac", project_id=project.pk, project=PROJECT)
    signed_in(administrator).post(f"/settings/projects/{project.pk}/", {"name": "New name"})
    made.refresh_from_db()
    assert made.project == "New name"


def test_settings_lead_there_for_managers_and_administrators(signed_in, manager, administrator, editor):
    for user in (manager, administrator):
        assert 'href="/settings/search/"' in signed_in(user).get("/settings/").content.decode()
    assert signed_in(editor).get("/settings/search/").status_code == 403
