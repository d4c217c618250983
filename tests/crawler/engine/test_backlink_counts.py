"""What is counted before an excursion ends: backlinks, marks of heads, and how a crawl differs from the one before."""

import time
import tracemalloc
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from clearinghouse.database.digests import digest_of
from crawler.bulk_sql import chunks
from crawler.engine import message_queue
from crawler.engine.finishing import backlink_counts as deriving
from crawler.engine.finishing import finish_batch
from crawler.engine.finishing.backlink_counts import ALL, Derivation, derive
from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.errors import Fenced
from crawler.extract import pack_links
from crawler.launching.launch import LaunchRequest, launch
from crawler.ledger import links_between_pages as links
from crawler.ledger.ledger_check import faults
from crawler.liveness.instances import register
from crawler.models import ActiveQueue, Excursion, Instance, LedgerEntry, Message, PageHead, PageVersion, Run, State
from crawler.policy import backlinks as sightings
from crawler.policy.backlinks import Addresses, Backlinks, count_backlinks, link_keys
from crawler.policy.judge import CrawlRules
from crawler.values import Link, PointSettings, Snapshot
from tests.crawler.conftest import crawl, make_document
from tests.proves import proves
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
ROOT = "http://a.org/"


def backlinks(run: Run) -> dict[str, int]:
    rows = LedgerEntry.objects.filter(excursion__run=run).values_list("url", "backlinks")
    return {"/" + url.split("/", 3)[-1]: count for url, count in rows}


def rules(**options: bool) -> CrawlRules:
    return CrawlRules(Snapshot(1, (PointSettings(1, ROOT, ROOT, depth=9, **options),)))


def packed(own: str, *links: str) -> tuple[bytes, bytes]:
    return digest_of(ROOT + own), pack_links([Link(ROOT + link) for link in links])


def test_a_page_counts_once_however_often_it_links_and_never_for_itself() -> None:
    counts = count_backlinks([packed("a", "b", "b", "a"), packed("b", "a"), packed("c", "b")], link_keys(rules()))
    assert counts == {digest_of(ROOT + "a"): 1, digest_of(ROOT + "b"): 2}


def test_links_to_the_same_identity_are_links_to_the_same_page() -> None:
    pages = [packed("a", "b?sid=5f2d8a9b0c1e4f60a7b3", "b?sid=0c1e4f60a7b35f2d8a9b", "d?sid=2"), packed("c", "b")]
    assert count_backlinks(pages, link_keys(rules())) == {digest_of(ROOT + "b"): 2, digest_of(ROOT + "d?sid=2"): 1}
    assert len(count_backlinks(pages, link_keys(rules(drop_sessions=False)))) == 4


def test_what_is_no_address_is_counted_under_its_raw_text() -> None:
    pages = [(digest_of("own"), pack_links([Link("http://[bad"), Link("mailto:a@b.c")]))]
    assert set(count_backlinks(pages, link_keys(rules()))) == {digest_of("http://[bad"), digest_of("mailto:a@b.c")}


def test_all_addresses_of_a_ledger_are_counted_as_a_dictionary_would() -> None:
    """Also one whose key begins like another's, and links nobody judged; page 17 is its own parent and not in the
    ledger."""
    pages = [packed(str(n), *(str(m) for m in range(0, 60, n % 7 + 1)), "nowhere") for n in range(40)]
    alike = digest_of(ROOT + "7")[:8] + bytes(24)
    ids = {digest_of(ROOT + str(m)): 1_000 + m * 37 % 60 for m in range(60) if m != 17} | {alike: 1}
    addresses = Addresses()
    for part in chunks(sorted(ids.items()), 9):
        addresses.add(part)
    backlinks = Backlinks(rules(), addresses)
    backlinks.add(pages[:25])
    backlinks.add(pages[25:])
    wanted = count_backlinks(pages, link_keys(rules()))
    expected = sorted((number, wanted[key]) for key, number in ids.items() if wanted[key])
    assert len(expected) == 59
    assert [(number, count) for count, number in backlinks.counted(after=0)] == expected
    assert [(number, count) for count, number in backlinks.counted(after=1_030)] == expected[30:]


def test_a_finished_crawl_knows_how_many_pages_link_to_each_address() -> None:
    pages = {"/": Page(["/a", "/b", "/x", "/x"]), "/a": Page(["/b", "/", "/a"]), "/b": Page(["http://other.org/"])}
    with serve(pages) as site:
        run = crawl(make_document({"url": site.url("/")}))
    assert backlinks(run) == {"/": 1, "/a": 1, "/b": 2, "/x": 1}
    excursion = Excursion.objects.get(run=run)
    assert excursion.derived_to == ALL and excursion.tallies["change"]["new"] == 3
    assert faults(run) == []


@proves("rule 15")
def test_stored_links_of_an_unchanged_page_count_in_the_next_run() -> None:
    with serve({"/": Page(["/a"]), "/a": Page(["/"])}) as site:
        document = make_document({"url": site.url("/")})
        first, second = crawl(document), crawl(document)
    assert backlinks(first) == backlinks(second) == {"/": 1, "/a": 1}


def grown(run: Run, pages: int) -> None:
    """So many pages more in the ledger of a crawl, each with 250 links to addresses of its own that were too deep."""
    home = LedgerEntry.objects.get(excursion__run=run, outcome="crawled")
    version = PageVersion.objects.get(pk=home.version_id)
    for page in range(pages):
        urls = [f"{home.url}{page}/{number}" for number in range(250)]
        version.pk, version.url_key = version.pk + 1, digest_of(urls[0] + "/")
        version.links = pack_links([Link(url) for url in urls])
        version.save(force_insert=True)
        met = [LedgerEntry(url=url, url_key=digest_of(url), outcome="skipped", reason="too_deep") for url in urls]
        met.append(LedgerEntry(url_key=version.url_key, outcome="crawled", version_id=version.pk))
        for row in met:
            row.excursion_id, row.doc_id, row.at = home.excursion_id, home.doc_id, home.at
        LedgerEntry.objects.bulk_create(met)


def test_what_counting_takes_of_memory_is_a_third_of_what_crawling_took(monkeypatch: pytest.MonkeyPatch) -> None:
    """An instance may hold 120 bytes for each address it knows; that of a million was 317 MB large while it ended."""
    monkeypatch.setattr(sightings, "_REMEMBERED", 100)
    monkeypatch.setattr(links, "READ_AT_ONCE", 4)
    monkeypatch.setattr(deriving, "_READ", 1_000)
    peaks = []
    for pages in (10, 40):
        with serve({"/": Page()}) as site:
            run = crawl(make_document({"url": site.url("/")}))
        grown(run, pages)
        instance, excursion = undone(run)
        tracemalloc.start()
        derive(instance, excursion)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert LedgerEntry.objects.filter(excursion=excursion, backlinks=1).count() == 250 * pages
    assert (peaks[1] - peaks[0]) / (250 * 30) < 45


def undone(run: Run) -> tuple[Instance, Excursion]:
    """The excursion of a run as it stood before anything was counted."""
    LedgerEntry.objects.filter(excursion__run=run).update(backlinks=0)
    Excursion.objects.filter(run=run).update(derived_to=0, state=State.RUNNING)
    return register(run.pk), Excursion.objects.get(run=run)


def test_an_ending_killed_after_any_step_is_gone_on_with_and_counts_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deriving, "_WRITTEN", 3)
    monkeypatch.setattr(links, "READ_AT_ONCE", 2)
    monkeypatch.setattr(deriving, "_READ", 5)
    pages = {f"/{n}": Page([f"/{m}" for m in range(12)]) for n in range(12)}
    with serve(pages) as site:
        run = crawl(make_document({"url": site.url("/0")}))
    expected = backlinks(run)
    assert set(expected.values()) == {11}
    steps = len(list(Derivation(*undone(run)).steps()))
    assert steps > 10
    for killed_after in range(steps):
        instance, excursion = undone(run)
        for _ in zip(range(killed_after), Derivation(instance, excursion).steps(), strict=False):
            pass
        heir = Excursion.objects.get(run=run)
        derive(register(run.pk), heir)
        assert backlinks(run) == expected, killed_after
        assert Excursion.objects.get(run=run).derived_to == ALL


def test_whoever_was_declared_dead_counts_nothing() -> None:
    with serve({"/": Page(["/a"]), "/a": Page()}) as site:
        run = crawl(make_document({"url": site.url("/")}))
    instance, excursion = undone(run)
    Instance.objects.filter(pk=instance.pk).update(alive=False)
    with pytest.raises(Fenced):
        derive(instance, excursion)
    assert backlinks(run) == {"/": 0, "/a": 0}
    excursion.derived_to = ALL
    with pytest.raises(Fenced):
        derive(instance, excursion)


def test_an_excursion_stays_stopping_until_everything_is_counted() -> None:
    with serve({"/": Page(["/a"]), "/a": Page()}) as site:
        run = crawl(make_document({"url": site.url("/")}))
    instance, excursion = undone(run)
    derive(instance, excursion)
    assert Excursion.objects.get(run=run).state == State.STOPPING


def test_a_killed_ending_is_finished_by_the_next_instance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finish_batch, "MOST", 0)
    with serve({"/": Page(["/a"]), "/a": Page(["/"])}) as site:
        run = launch(LaunchRequest([make_document({"url": site.url("/")}).pk], by="test", speed="fast"))
        initialize(run)
        crawler = InstanceLoop(run)

        def killed(*_: object) -> None:
            raise KeyboardInterrupt

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Derivation, "_write", killed)
            with pytest.raises(KeyboardInterrupt):
                crawler.work()
        assert Excursion.objects.get(run=run).unfinished
        Instance.objects.update(alive=False)
        Excursion.objects.get(run=run).claim.delete()
        InstanceLoop(Run.objects.get(pk=run.pk)).work()
    run.refresh_from_db()
    assert run.state == State.FINISHED and backlinks(run) == {"/": 1, "/a": 1}
    assert faults(run) == []


def test_heads_say_whether_the_newest_crawl_found_them() -> None:
    with serve({"/": Page(["/a"]), "/a": Page()}) as site:
        document = make_document({"url": site.url("/")})
        crawl(document)
        site.pages["/"] = Page(["/b"])
        site.pages["/b"] = Page()
        crawl(document)
        keys = {digest_of(site.url(path)): path for path in ("/", "/a", "/b")}
        assert {keys[k]: v for k, v in PageHead.objects.values_list("url_key", "updated")} == {"/": 1, "/a": 0, "/b": 1}
        site.pages["/"] = Page(["/a", "/b"])
        crawl(document)
        assert set(PageHead.objects.values_list("updated", flat=True)) == {1}


def test_endings_share_a_transaction_up_to_so_many_documents_and_addresses() -> None:
    def sizes(*addresses: int) -> list[list[int]]:
        queues: list[Any] = [SimpleNamespace(frontier=SimpleNamespace(known=range(count))) for count in addresses]
        return [[len(queue.frontier.known) for queue in part] for part in finish_batch.parts(queues)]

    assert sizes() == []
    assert sizes(*[1] * 65) == [[1] * 64, [1]]
    assert sizes(*[512] * 9) == [[512] * 8, [512]]
    assert sizes(4096, 1) == [[4096], [1]]


def test_small_documents_end_together_as_each_would_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"/": Page(["/a", "/b", "/c", "/"]), "/a": Page(["/", "/b"]), "/b": Page(status=302, location="/c")}
    pages |= {"/c": Page(["/a", "/gone"], headers={"X-Robots-Tag": "noindex"})}
    seen = []
    with serve(pages) as site:
        for small in (64, 0):
            monkeypatch.setattr(finish_batch, "MOST", small)
            documents = [make_document({"url": site.url("/"), "max_pages": most}) for most in (0, 2)]
            run = crawl(*documents)
            rows = LedgerEntry.objects.filter(excursion__run=run).order_by("excursion_id", "url")
            ends = Excursion.objects.filter(run=run).order_by("id")
            heads = PageHead.objects.filter(doc_id__in=[d.pk for d in documents]).values_list("updated", flat=True)
            kept = [{**end.tallies, "point": list(end.tallies["point"].values())} for end in ends]
            seen.append((
                [(row.url, row.outcome, row.backlinks) for row in rows if row.excursion.doc_id == documents[0].pk],
                kept[0], [(end.state, end.unfinished, end.derived_to) for end in ends], set(heads), run.state,
            ))  # fmt: skip
            assert faults(run) == []
            assert not Message.objects.exists() and not ActiveQueue.objects.exists()
    assert seen[0] == seen[1]
    assert seen[0][2] == [("finished", False, ALL), ("finished_at_limit", False, ALL)]


def test_a_large_ending_lets_the_other_queues_be_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """While one document is being counted, the pages of another are fetched and the instance shows that it lives."""
    monkeypatch.setattr(finish_batch, "MOST", 0)
    steps = Derivation.steps

    def slow(self: Derivation) -> Iterator[None]:
        yield from steps(self)
        for _ in range(100):
            time.sleep(0.03)
            yield

    monkeypatch.setattr(Derivation, "steps", slow)
    pages = {"/a/": Page()} | {"/b/": Page(["/b/1"]), "/b/1": Page(["/b/2"], delay=0.3), "/b/2": Page(delay=0.3)}
    with serve(pages) as site:
        large, other = make_document({"url": site.url("/a/")}), make_document({"url": site.url("/b/")})
        run = launch(LaunchRequest([large.pk, other.pk], by="test", speed="fast"))
        initialize(run)
        seen: list[tuple[bool, int]] = []

        def look(_: InstanceLoop) -> None:
            stored = Excursion.objects.get(run=run, doc_id=other.pk).crawled
            seen.append((Excursion.objects.get(run=run, doc_id=large.pk).unfinished, stored))

        InstanceLoop(run).work(look)
    assert (True, 3) in seen  # all of the other document was stored before the large one had ended
    run.refresh_from_db()
    assert run.state == State.FINISHED and faults(run) == []


def test_messages_are_not_deleted_by_an_instance_that_was_declared_dead() -> None:
    run = launch(LaunchRequest([make_document({"url": ROOT}).pk], by="test", speed="fast"))
    initialize(run)
    instance = register(run.pk)
    message_queue.claim(instance, 1)
    Instance.objects.filter(pk=instance.pk).update(alive=False)
    with pytest.raises(Fenced):
        list(message_queue.delete_messages(instance, Excursion.objects.get(run=run).pk))
    assert Message.objects.count() == 1
