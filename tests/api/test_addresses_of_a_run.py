"""What the run pages show of single addresses, figures and parts of a run, by program."""

from typing import Any

import pytest

from clearinghouse.accounts import options
from clearinghouse.database.digests import digest_of
from clearinghouse.library.models import Document
from crawler.findings.diagnosis import diagnose_due
from crawler.models import ErrorMark, LedgerEntry, PageBody, PageVersion, Run
from crawlpoints import services
from tests.crawler.runs.rows import SITE, make_run

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])


def entry(run: Run, doc: Document, ending: str) -> LedgerEntry:
    return LedgerEntry.objects.get(excursion__run=run, doc_id=doc.pk, url__endswith=ending)


def test_the_figures_of_a_run_balance_with_its_lists(program: Any, editor: Any, document: Document, run: Run) -> None:
    asks = program(editor).ask
    counts = asks("GET", f"runs/{run.pk}/counts/")[1]
    assert sum(counts["skipped_by_reason"].values()) == counts["skipped"] > 0
    for reason, count in counts["skipped_by_reason"].items():
        assert asks("GET", f"runs/{run.pk}/urls/?reason={reason}")[1]["count"] == count
    for word, count in counts["statuses"].items():
        assert asks("GET", f"runs/{run.pk}/urls/?status={word[0]}")[1]["count"] == count
    assert sum(one["waiting"] for one in counts["depths"]) == counts["queued"]
    assert asks("GET", f"runs/{run.pk}/counts/?document={document.pk}")[1] == counts  # the other one is not theirs
    assert asks("GET", f"runs/{run.pk}/counts/?document=999")[1]["found"] == 0


def test_the_ledger_is_filtered_as_on_the_screen(
    program: Any, editor: Any, administrator: Any, document: Document, run: Run
) -> None:
    asks = program(editor).ask
    root = next(one["url"] for one in asks("GET", f"runs/{run.pk}/pages/?depth=0")[1]["items"])
    point = document.pk * 10
    for query, least in (
        (f"site={root}", 5), (f"point={point}", 5), (f"rule={root}print/*", 1), ("fresh=new", 1), ("taken=true", 5),
    ):  # fmt: skip
        found = asks("GET", f"runs/{run.pk}/urls/?{query}")[1]
        assert found["count"] >= least, query
    sees_all = program(administrator).ask
    found = sees_all("GET", f"runs/{run.pk}/urls/?document={document.pk}")[1]
    assert 0 < found["count"] < sees_all("GET", f"runs/{run.pk}/urls/")[1]["count"]
    assert {(one["document_id"], one["document"]) for one in found["items"]} == {(document.pk, document.title)}
    assert asks("GET", f"runs/{run.pk}/urls/?rule=nothing")[1]["count"] == 0
    assert asks("GET", f"runs/{run.pk}/urls/?fresh=old")[0] == 400


def test_the_log_is_filtered_by_kind_and_text(program: Any, administrator: Any, run: Run) -> None:
    asks = program(administrator).ask
    asks("POST", f"runs/{run.pk}/speed/", {"speed": "fast"})
    for query in ("kind=speed", "text=Speed+set"):
        assert asks("GET", f"runs/{run.pk}/events/?{query}")[1]["count"] == 1, query
    assert asks("GET", f"runs/{run.pk}/events/?kind=speed&text=polite")[1]["count"] == 0


def test_the_tree_is_read_folder_by_folder(program: Any, editor: Any, run: Run) -> None:
    asks = program(editor).ask
    sites = asks("GET", f"runs/{run.pk}/folders/")[1]["items"]
    site = next(one for one in sites if one["folder"].startswith(SITE))
    below = asks("GET", f"runs/{run.pk}/folders/?folder={site['folder']}")[1]["items"]
    assert sum(one["found"] for one in below) == site["found"]
    assert sum(one["pages"] for one in below) == site["pages"]


def test_an_address_says_why_and_the_path_to_it(
    program: Any, editor: Any, stranger: Any, document: Document, run: Run
) -> None:
    outside = entry(run, document, "/report.pdf")
    address = f"runs/{run.pk}/urls/{outside.pk}/why/"
    found = program(editor).ask("GET", address)[1]
    assert "does not begin with the root string" in found["sentence"]
    assert [step["result"] for step in found["checks"]][-2:] == ["stop", "idle"]
    assert [step["url"] for step in found["path"]][-1].endswith("/1.html") and len(found["path"]) == 2
    assert program(stranger).ask("GET", address)[0] == 404


def test_links_versions_difference_and_source_of_a_page(
    program: Any, editor: Any, document: Document, run: Run
) -> None:
    asks = program(editor).ask
    page = entry(run, document, "/1.html")
    address = f"runs/{run.pk}/urls/{page.pk}/"
    out = asks("GET", f"{address}links-out/")[1]["items"]
    assert [one["anchor"] for one in out] == ["to ", "to 1.html"] and out[1]["id"] == page.pk
    inward = asks("GET", f"{address}links-in/")[1]
    assert inward["complete"] and any(one["anchor"] == "to 1.html" for one in inward["items"])
    old = PageVersion.objects.get(pk=page.version_id)
    body = b"<p>Text that is new</p>"
    PageBody.objects.create(digest=digest_of(body), content=body)
    new = PageVersion.objects.create(
        run_id=run.pk, doc_id=document.pk, url_key=old.url_key, url=old.url, digest=digest_of(body), type_id=1,
        text="Text that is new", size=len(body), charset="utf-8", found_at=old.found_at,
    )  # fmt: skip
    LedgerEntry.objects.filter(pk=page.pk).update(version_id=new.pk)
    versions = asks("GET", f"{address}versions/")[1]["items"]
    assert [one["id"] for one in versions] == [new.pk, old.pk]
    found = asks("GET", f"{address}difference/")[1]
    assert (found["old"], found["new"]) == (old.pk, new.pk) and found["words_added"] == 3
    same = asks("GET", f"{address}difference/?old={new.pk}&new={new.pk}")[1]
    assert same["words_added"] == same["words_removed"] == 0
    assert asks("GET", f"{address}source/")[1] == {"text": body.decode(), "cut": False}
    refused = entry(run, document, "private/")
    assert asks("GET", f"runs/{run.pk}/urls/{refused.pk}/source/")[0] == 404


def test_one_document_of_a_run_rests_and_goes_on(
    program: Any, administrator: Any, editor: Any, document: Document, run: Run
) -> None:
    address = f"runs/{run.pk}/documents/{document.pk}/do/"
    assert program(editor).ask("POST", f"{address}pause/")[0] == 403
    asks = program(administrator).ask
    assert asks("POST", f"{address}pause/")[0] == 200
    assert run.excursions.get(doc_id=document.pk).control == "pause"
    assert asks("POST", f"{address}pause/")[0] == 200, "an order may be given again"
    assert asks("POST", f"{address}resume/")[0] == 200
    assert asks("POST", f"{address}stop/")[0] == 404
    assert asks("POST", f"runs/{run.pk}/documents/999/do/pause/")[0] == 404
    options.choose({options.DEVELOPERS_LAUNCH: "yes"})
    assert program(editor).ask("POST", f"{address}pause/")[0] == 200


def test_a_group_of_errors_is_marked_and_fetched_again(
    program: Any, editor: Any, administrator: Any, document: Document, point: Any
) -> None:
    run = make_run(document, state="finished", queued=0)
    diagnose_due()
    asks = program(editor).ask
    group = next(one for one in asks("GET", f"runs/{run.pk}/errors/")[1]["items"] if one["reason"] == "timeout")
    assert asks("POST", f"errors/{group['name']}/mark/", {"state": "known"})[1] == {"documents": 1}
    assert ErrorMark.objects.get().state == "known"
    assert asks("POST", f"errors/{group['name']}/mark/", {"state": "new"})[0] == 200
    assert not ErrorMark.objects.exists()
    assert asks("POST", f"errors/{'0' * 64}/mark/", {"state": "known"})[0] == 404
    launches = program(administrator).ask
    sent = {"documents": [document.pk], "only": "failed", "errors": group["key"]}
    assert launches("POST", "runs/", sent | {"only": "new"})[0] == 422
    status, again = launches("POST", "runs/", sent)
    snapshot = Run.objects.get(pk=again["id"]).excursions.get().snapshot
    assert status == 201 and snapshot["errors"] == group["key"]


def test_the_recommendation_counts_documents(program: Any, editor: Any, document: Document) -> None:
    run = make_run(document, state="finished", queued=0)
    assert program(editor).ask("GET", f"runs/{run.pk}/counts/")[1]["recommendation"] == {}
    diagnose_due()
    advised = program(editor).ask("GET", f"runs/{run.pk}/counts/")[1]["recommendation"]
    assert sum(advised.values()) == 1 and set(advised) <= {"propagate", "review", "again"}


def test_settings_used_are_compared_with_those_of_now(program: Any, editor: Any, document: Document, run: Run) -> None:
    services.add_exclude_url(document, "https://quality.example.gov/later/*")
    address = f"runs/{run.pk}/documents/{document.pk}/settings/differences/"
    rows = program(editor).ask("GET", address)[1]["items"]
    assert {"what": "Exclude URL https://quality.example.gov/later/*", "then": "not there", "now": "added"} in rows
