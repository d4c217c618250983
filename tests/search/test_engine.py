"""What a search finds, in which order, in which generation."""

import pytest

from clearinghouse.published.models import LiveGeneration, PublishedInterval
from clearinghouse.published.types import PDF
from clearinghouse.search import backends, engine
from clearinghouse.search.engine import Narrow

from .library import publish

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])

PAGES = [
    {"title": "Patient safety indicators", "text": "Each indicator is a rate per 1,000 hospital discharges."},
    {"title": "Handover", "text": "The patient moves between wards. Safety first. Nursing notes."},
    {"title": "Café médical", "text": "Running measures were measured by the médecin."},
    {"title": "Events by region", "text": "patient safety events", "type_id": PDF, "doc_id": 2,
     "url": "https://data.example.org/events.pdf"},
    {"title": "Sitemap", "text": "nothing here", "anchors": "handover checklist"},
]  # fmt: skip
TITLES = {1: ("Measures of quality", "Measures"), 2: ("Safety data", "Data")}


@pytest.fixture
def library(db):
    publish("primary", PAGES, titles=TITLES)


def titles(text: str, **filters) -> list[str]:
    narrow = Narrow(**filters) if filters else None
    return [hit.title for hit in engine.search(text, alias="primary", filters=narrow).hits]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("handover", {"Handover", "Sitemap"}),
        ('"patient safety"', {"Patient safety indicators", "Events by region"}),
        ("patient safety", {"Patient safety indicators", "Events by region", "Handover"}),
        ("patient -nursing", {"Patient safety indicators", "Events by region"}),
        ("measure", {"Café médical"}),
        ("cafe MEDICAL", {"Café médical"}),
        ("discharg*", {"Patient safety indicators"}),
        ("title:handover", {"Handover"}),
        ("region OR wards", {"Events by region", "Handover"}),
        ("patient type:pdf", {"Events by region"}),
        ("patient site:data.example.org", {"Events by region"}),
        ("site:example.org handover", {"Handover", "Sitemap"}),
        ("patient document:2", {"Events by region"}),
        ('patient document:"safety data"', {"Events by region"}),
        ("patient project:measures", {"Patient safety indicators", "Handover"}),
        ("patient after:2026-11-14", {"Events by region"}),
        ("patient before:2026-11-13", {"Patient safety indicators"}),
        ("type:pdf", {"Events by region"}),
        ("-patient", {"Café médical", "Sitemap"}),
        ("nowhere", set()),
        ("", set()),
    ],
)
def test_a_query_finds(library, text, found):
    assert set(titles(text)) == found


def test_a_word_in_the_title_counts_more_than_in_the_text(library):
    assert titles("handover")[0] == "Handover"
    assert titles("patient safety")[0] == "Patient safety indicators"


def test_facets_count_all_results_and_narrow_them(library):
    results = engine.search("patient", alias="primary", limit=1)
    assert (results.total, len(results.hits)) == (3, 1)
    assert results.projects == {"Measures": 2, "Data": 1}
    assert results.documents == {1: 2, 2: 1}
    assert results.sites == {"quality.example.org": 2, "data.example.org": 1}
    assert titles("patient", projects=("Data",)) == ["Events by region"]
    assert titles("", types=(PDF,)) == ["Events by region"]


def test_results_can_be_sorted_by_date_and_title(library):
    assert titles("patient", sort="newest") == ["Events by region", "Handover", "Patient safety indicators"]
    assert titles("patient", sort="title") == ["Events by region", "Handover", "Patient safety indicators"]


def test_a_reader_sees_one_generation_only(library):
    PublishedInterval.objects.using("primary").update(gen_to=2)
    publish(
        "primary", [{"title": "New handover", "url": "https://quality.example.org/new"}], generation=2, titles=TITLES
    )
    assert titles("handover") == ["New handover"]
    old = engine.search("handover", alias="primary", generation=1)
    assert [hit.title for hit in old.hits] == ["Handover", "Sitemap"]


def test_a_page_is_indexed_once_and_can_be_removed(library):
    ids = list(PublishedInterval.objects.using("primary").values_list("published_id", flat=True))
    assert backends.add("primary", ids) == 0
    backends.remove("primary", ids[:2])
    assert titles("handover") == ["Sitemap"]
    assert backends.backend("primary").missing(1) == ids[:2]
    assert backends.add("primary", ids) == 2
    assert len(titles("handover")) == 2


def test_a_target_without_index_or_generation_finds_nothing(db):
    assert engine.search("anything", alias="backup").total == 0
    LiveGeneration.objects.using("backup").update_or_create(id=1, defaults={"generation": 3})
    assert engine.search("anything", alias="backup").total == 0
