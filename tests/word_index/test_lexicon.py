"""Words keep their ids, and the counts follow what a target shows, whatever happens on the way."""

import pytest

from clearinghouse.database.aliases import TARGETS
from clearinghouse.operations import work_queues
from clearinghouse.published.models import LexiconState, LexiconWord
from crawler import jobs
from crawler.propagation.loading import load
from crawler.propagation.switching import rollback
from crawler.upkeep import tick
from crawler.word_index import lexicon, page_counts, words_in_text
from tests.propagation.world import World, add_document, adopt, propagate, shown

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
GONE = ("failed", "http_4xx", 404)


def counted(alias: str = "primary") -> dict[str, int]:
    return dict(LexiconWord.objects.using(alias).filter(pages__gt=0).values_list("word", "pages"))


def by_hand(target: str = "primary") -> dict[str, int]:
    found: dict[str, int] = {}
    for text in shown(target).values():
        for word in words_in_text.indexed(text):
            found[word] = found.get(word, 0) + 1
    return found


@pytest.fixture
def generations():
    """Three crawls: pages come, change and go."""
    document, world = add_document(), World()
    world.run(document, {"": "start here", "a.html": "alpha ward", "b.html": "beta ward ward"})
    propagate()
    world.run(document, {"": "start here", "a.html": "alpha bed", "b.html": "beta ward ward", "c.html": "gamma"})
    propagate()
    for _ in range(2):
        world.run(document, {"": "start again", "a.html": "alpha bed", "c.html": "gamma"}, also={"b.html": GONE})
    assert propagate(accepted_losses=[document.pk]).state == "done"
    return world, document


def test_a_propagation_leaves_counted_words_on_every_target(generations):
    for target, alias in TARGETS.items():
        assert counted(alias) == by_hand(target) == {"start": 1, "alpha": 1, "bed": 1, "gamma": 1}
        assert page_counts.counted(alias) == load.live(alias)
    assert page_counts.behind() == []


def test_ids_stay_when_everything_is_counted_anew(generations):
    before = dict(LexiconWord.objects.using("primary").values_list("word", "pk"))
    assert {"ward", "beta"} < before.keys(), "words that stand on no page any more keep their ids"
    incremental = counted()
    assert page_counts.recount("primary") == 3
    assert counted() == incremental
    assert dict(LexiconWord.objects.using("primary").values_list("word", "pk")) == before


def test_counts_follow_a_rollback_and_the_next_propagation(generations):
    world, document = generations
    rollback.roll_back("primary", by="tester")
    assert page_counts.behind() == ["primary"]
    jobs.count_words()
    assert counted() == by_hand() == {"start": 1, "alpha": 1, "bed": 1, "beta": 1, "ward": 1, "gamma": 1}
    world.run(document, {"": "start again", "a.html": "ward ward", "c.html": "gamma"})
    assert propagate(targets=["primary"], accepted_losses=[document.pk]).state == "done"
    assert counted() == by_hand()


def test_the_tick_notices_a_rollback_and_its_ring_opens_a_door_of_ours(generations, monkeypatch):
    rings: list[str] = []
    monkeypatch.setattr(work_queues, "ring", lambda queue, function, *ids: rings.append(function))
    monkeypatch.setattr(work_queues, "waiting", lambda queue: 0)
    tick.Tick().round()
    assert "crawler.jobs.count_words" not in rings
    rollback.roll_back("primary", by="tester")
    tick.Tick().round()
    assert "crawler.jobs.count_words" in rings
    assert "crawler.jobs.count_words" in work_queues.TRUSTED
    jobs.count_words()
    rings.clear()
    tick.Tick().round()
    assert "crawler.jobs.count_words" not in rings


def test_a_propagation_after_a_rollback_nobody_counted_starts_from_what_was_live(generations):
    world, document = generations
    rollback.roll_back("primary", by="tester")
    world.run(document, {"": "new text", "a.html": "alpha bed", "c.html": "gamma"})
    assert propagate(accepted_losses=[document.pk]).state == "done"
    for target, alias in TARGETS.items():
        assert counted(alias) == by_hand(target)


def test_a_count_that_was_killed_goes_on_where_it_was(generations, monkeypatch):
    monkeypatch.setattr(page_counts, "_FEWEST", 1)
    monkeypatch.setattr(page_counts, "_MOST", 1)  # a transaction for each word
    expected = counted()

    class Killed(Exception):
        pass

    written: list[int] = []

    def kill() -> None:
        """Whenever a word more has been written."""
        now = LexiconState.objects.using("primary").values_list("done_to", flat=True).get()
        if now not in written:
            written.append(now)
            raise Killed

    attempts = 0
    with pytest.raises(Killed):
        page_counts.recount("primary", kill)
    while "primary" in page_counts.behind():
        attempts += 1
        try:
            page_counts.follow("primary", kill)
        except Killed:
            continue
    assert attempts > 2
    assert counted() == expected


def test_two_counts_at_once_do_each_part_once(generations):
    """The second one runs whenever the first has written something."""
    expected = counted()
    page_counts.recount("primary", lambda: page_counts.follow("primary"))
    assert counted() == expected


def test_a_full_propagation_counts_nothing_twice(generations):
    expected = counted()
    propagate(full=True)
    assert counted() == expected == by_hand()


def test_the_pages_of_an_adopted_library_are_counted(db):
    document = add_document()
    adopt("primary", document, range(1, 4))
    assert page_counts.follow("primary") == 3
    assert counted() == {"adopted": 3, "text": 3}


def test_stopwords_have_the_id_zero_and_no_row(generations):
    assert lexicon.id_of("primary", "the") == 0
    assert not LexiconWord.objects.using("primary").filter(word__in=["here", "again"]).exists()
    assert lexicon.id_of("primary", "nowhere") is None


def test_entering_words_again_gives_the_same_ids(db):
    first = lexicon.entered("primary", ["ward", "the"])
    assert lexicon.entered("primary", ["bed", "ward"])["ward"] == first["ward"]
    assert first["the"] == 0
    assert lexicon.word_of("primary", first["ward"]) == "ward"


def test_a_target_without_pages_has_nothing_to_count(db):
    assert page_counts.follow("primary") == 0
    assert not LexiconState.objects.using("primary").exists()
