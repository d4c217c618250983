"""From entered to found by search, by commands: what schedulers, CI and measurements use."""

from tests.flow.house import House
from tests.proves import proves


def a_document(house: House, path: str = "/measures/", **options: object) -> int:
    """A document with one crawl point on the demo site."""
    document = house.manage("add_document", "Measures of hospital quality", "--project", "Hospital quality")["doc_id"]
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
    added = house.manage("add_crawl_point", document, house.site + path, *words)
    assert added["warnings"] == []
    return document


def test_a_page_entered_by_commands_is_found_by_search(house):
    house.open_site()
    document = a_document(house, depth=3, max_pages=100)

    run = house.manage("crawl", "--doc", document, "--speed", "fast")
    assert run["state"] == "finished"
    assert run["queued"] == 0
    # The index, five folders, nineteen measures; one retired measure is linked from elsewhere only.
    assert run["crawled"] == 25
    assert run["skipped"]["outside_root"] > 10
    assert run["found"] == run["crawled"] + run["redirected"] + sum(run["skipped"].values()) + sum(
        run["failed"].values()
    )

    propagated = house.manage("propagate")
    assert [target["name"] for target in propagated["targets"]] == ["development", "primary", "backup"]
    assert {target["pages"] for target in propagated["targets"]} == {25}

    found = house.manage("search", "catheterisation")
    assert [hit["url"] for hit in found["results"]] == [f"{house.site}/measures/cardiac/door-to-balloon.html"]
    assert found["results"][0]["doc_id"] == document


def test_a_second_crawl_of_an_unchanged_site_changes_nothing(house):
    house.open_site()
    document = a_document(house, depth=3)
    house.manage("crawl", "--doc", document, "--speed", "fast")
    first = house.manage("propagate")
    again = house.manage("crawl", "--doc", document, "--speed", "fast")
    assert (again["crawled"], again["unchanged"]) == (0, 25)
    second = house.manage("propagate")
    assert second["generation"] >= first["generation"]
    assert all(target["added"] == target["changed"] == target["removed"] == 0 for target in second["targets"])


@proves("E10")
def test_the_faults_of_a_real_site_each_get_their_reason(house):
    house.open_site()
    document = a_document(house, path="/", depth=5)
    house.manage("add_exclude_url", document, f"{house.site}/members/*")
    run = house.manage("crawl", "--doc", document, "--speed", "fast")
    assert run["state"] == "finished"
    assert run["failed"] == {"http_4xx": 3, "http_5xx": 1, "redirect_loop": 2}
    assert run["redirected"] == 4  # the old measures page, and a chain of three
    assert run["skipped"]["redirect_outside_root"] == 1
    assert run["skipped"]["excluded"] == 1
    assert run["skipped"]["robots_disallowed"] == 1
    assert run["skipped"]["scheme_not_allowed"] == 3
    house.manage("check_ledger", run["run"])


def test_a_protected_area_opens_with_the_saved_password(house):
    house.open_site()
    document = house.manage("add_document", "Evidence reviews")["doc_id"]
    options = ["--depth", 2, "--auth", "basic", "--user", "member", "--password-env", "MEMBER_PASSWORD"]
    house.manage("add_crawl_point", document, f"{house.site}/members/", *options, MEMBER_PASSWORD="evidence-first")
    run = house.manage("crawl", "--doc", document, "--speed", "fast")
    assert (run["state"], run["crawled"], run["failed"]) == ("finished", 3, {})


def test_a_maximum_is_exact_and_the_run_says_so(house):
    house.open_site()
    document = a_document(house, depth=3, max_pages=7)
    run = house.manage("crawl", "--doc", document, "--speed", "fast")
    assert run["state"] == "finished_at_limit"
    assert run["crawled"] == 7
    assert house.manage("explain", document, f"{house.site}/tools/")["reason"] == "outside_root"


def test_the_demo_crawls_propagates_and_can_be_rolled_back(house):
    house.open_site()
    made = house.manage("load_demo")
    assert (made["documents"], made["people"]) == (14, 4)
    assert house.manage("load_demo")["documents"] == 0
    glossary = house.manage("crawl", "--doc", 13, "--speed", "fast")
    first = house.manage("propagate")["generation"]
    assert house.manage("search", "handover")["total"] == 0

    run = house.manage("crawl", "--speed", "fast")
    assert run["state"] == "finished_at_limit"  # one of the demo's crawl points stops at three pages
    house.manage("check_ledger")
    assert {one["run"] for one in house.manage("runs")["runs"]} == {glossary["run"], run["run"]}
    assert house.manage("run", run["run"])["found"] == run["found"]
    assert house.manage("propagate")["generation"] > first
    assert house.manage("search", "handover")["total"] > 0

    house.manage("rollback")
    assert house.manage("search", "handover")["total"] == 0


def test_nothing_to_crawl_is_wrong_use(house):
    done = house.run("crawl", "--json")
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
