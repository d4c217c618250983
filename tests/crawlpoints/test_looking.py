"""Fetch it now, pre-flight, Detect, Test sign-in, preview: against real sites on this machine."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import reverse

from clearinghouse.database.records import acting_as
from clearinghouse.library.models import Document
from crawler.models import LedgerEntry, PageVersion, Preview
from crawler.preview import dry_run, look_limits
from crawler.preview.form_detection import NOT_FOUND, detect, fields_of
from crawler.preview.views import tree_of
from crawlpoints import queries, services
from crawlpoints.dialog import preflight
from crawlpoints.models import CrawlPoint
from tests.proves import proves
from tests.sites.forms import PASSWORD, USER, FormSite, serve
from tests.sites.misbehaving import Site, page, redirect

from .test_panel import text_of

pytestmark = pytest.mark.django_db(databases="__all__")


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as one:
        one.pages["/robots.txt"] = page("User-agent: *\nDisallow: /secret/\n", kind="text/plain")
        one.pages["/a/"] = page(
            '<title>Start</title><a href="b.html">b</a><a href="/out/x">x</a><a href="c/d.html">d</a>'
        )
        one.pages["/a/b.html"] = page("<title>B</title>no link")
        one.pages["/a/c/d.html"] = page('<title>D</title><a href="/out/y">y</a><a href="e.html">e</a>')
        one.pages["/a/c/e.html"] = page("<title>E</title>deep")
        one.pages["/a/moved"] = redirect("/a/b.html")
        one.pages["/a/away"] = redirect("/out/z")
        yield one


@pytest.fixture
def here(document: Document, site: Site) -> CrawlPoint:
    values = {"url": site.url("/a/"), "root": site.url("/a/"), "depth": 2, "max_pages": 500}
    return services.add_crawl_point(document, values)[0]


@pytest.fixture
def browser(editor: Any, signed_in: Any) -> Any:
    return signed_in(editor)


@pytest.fixture
def tester_page(document: Document) -> str:
    return reverse("crawl-points-test", args=[document.pk])


def asked(site: Site) -> list[str]:
    return [one.target for one in site.log]


# ---- fetch it now ----


def test_fetching_shows_the_page_and_its_links(browser: Any, tester_page: str, here: CrawlPoint, site: Site) -> None:
    shown = text_of(browser.post(tester_page, {"url": here.url}))
    assert "It answered 200 and can be read" in shown and "Start" in shown
    assert "2 in scope, 1 out of scope" in shown
    assert not PageVersion.objects.exists() and not LedgerEntry.objects.exists()


def test_a_redirect_is_followed_inside_the_root_and_not_outside(
    browser: Any, tester_page: str, here: CrawlPoint, site: Site
) -> None:
    shown = text_of(browser.post(tester_page, {"url": site.url("/a/moved")}))
    assert "redirects to" in shown and "It answered 200" in shown
    shown = text_of(browser.post(tester_page, {"url": site.url("/a/away")}))
    assert "Redirects outside the root string" in shown or "redirects outside the root string" in shown
    assert "/out/z" not in asked(site)


def test_robots_txt_forbids_a_look_too(browser: Any, tester_page: str, here: CrawlPoint, site: Site) -> None:
    shown = text_of(browser.post(tester_page, {"url": site.url("/secret/1")}))
    assert "Disallow: /secret/" in shown
    assert "/secret/1" not in asked(site)


def test_a_saved_password_does_not_go_where_unsaved_entries_point(
    browser: Any, document: Document, site: Site, entries: dict[str, str]
) -> None:
    values = {"url": "https://kept.example.org/", "root": "https://kept.example.org/"}
    point, _ = services.add_crawl_point(document, values | {"auth_type": 1, "login": "me", "password": "canary-7Q"})
    url = reverse("crawl-point-edit", args=[document.pk, point.pk])
    moved = entries | {"url": site.url("/a/"), "root": site.url("/a/"), "auth_type": "1", "login": "me"}
    browser.post(url, moved | {"do": "fetch", "test": site.url("/a/")})
    shown = text_of(browser.post(url, moved | {"do": "sign_in"}))
    assert "Enter the password, or save first" in shown
    browser.post(url, moved | {"do": "preview"})
    dry_run.carry_out(Preview.objects.get().pk)
    assert "/a/" in asked(site)
    assert not [one for one in site.log if "authorization" in one.headers]


def test_many_lines_give_a_table_and_a_csv(browser: Any, tester_page: str, here: CrawlPoint, site: Site) -> None:
    lines = f"{here.url}\nhttps://other.example.org/"
    shown = text_of(browser.get(tester_page, {"url": lines}))
    assert "Answers" in shown and "outside the root string" in shown
    body = b"".join(browser.get(f"{tester_page}export.csv", {"url": lines}).streaming_content).decode()
    assert body.splitlines()[2].startswith("https://other.example.org/,https://other.example.org/,no,outside_root,")


def test_where_root_and_address_part_is_marked(browser: Any, tester_page: str, here: CrawlPoint, site: Site) -> None:
    shown = text_of(browser.get(tester_page, {"url": site.url("/out/")}))
    assert '<span class="hit">a</span>' in shown and '<span class="hit">o</span>' in shown


# ---- pre-flight ----


@proves("D18")
def test_a_start_page_that_leads_away_can_be_repaired_with_one_press(
    browser: Any, document: Document, site: Site
) -> None:
    point, _ = services.add_crawl_point(document, {"url": site.url("/a/away"), "root": site.url("/a/"), "depth": 1})
    shown = browser.get(reverse("crawl-point-look", args=[document.pk, point.pk]))
    assert "is outside the root string, so only 0 pages would be stored" in text_of(shown)
    token = shown.context["cautions"][0]["token"]
    use = reverse("crawl-point-use", args=[document.pk, point.pk])
    assert browser.post(use, {"token": token + "x"}).status_code == 404
    browser.post(use, {"token": token})
    point.refresh_from_db()
    assert (point.url, point.root) == (site.url("/out/z"), site.url("/out/"))


def test_the_panel_asks_for_the_look_after_a_save(browser: Any, document: Document, here: CrawlPoint) -> None:
    shown = text_of(browser.get(reverse("crawl-points", args=[document.pk]) + f"?saved={here.pk}"))
    assert f'hx-get="{reverse("crawl-point-look", args=[document.pk, here.pk])}" hx-trigger="load"' in shown


def test_the_look_after_a_save_waits_for_another_one_of_the_same_person_without_an_error(
    browser: Any, editor: Any, document: Document, here: CrawlPoint, site: Site
) -> None:
    """Nobody pressed anything: it asks again by itself, so many times, and then leaves it to the person."""
    look = reverse("crawl-point-look", args=[document.pk, here.pk])
    address, asked = look, 0
    with acting_as(editor.username), look_limits.one_look():
        while address:
            shown = browser.get(address, HTTP_HX_REQUEST="true")
            text = shown.content.decode()
            assert shown.status_code == 200 and look_limits.YOURS in text and f'<a href="{look}">' in text
            asked += 1
            found = re.search(r'hx-get="([^"]+)" hx-trigger="load delay:5s"', text)
            address = found[1].replace("&amp;", "&") if found else ""
        assert browser.get(look).status_code == 429  # this one somebody asked for
    assert asked == 1 + preflight.TRIES and site.log == []
    assert "it answered 200" in text_of(browser.get(f"{look}?tried=1", HTTP_HX_REQUEST="true"))


def test_a_good_start_page_gives_no_warning(browser: Any, document: Document, here: CrawlPoint) -> None:
    shown = text_of(browser.get(reverse("crawl-point-look", args=[document.pk, here.pk])))
    assert "it answered 200, “Start”; 2 links in scope" in shown


# ---- sign-in ----


@pytest.fixture
def members() -> Iterator[FormSite]:
    with serve() as one:
        one.pages["/home"] = b"<title>Home</title>Welcome back"
        yield one


def test_detect_reads_the_names_of_the_fields(
    browser: Any, document: Document, members: FormSite, entries: Any
) -> None:
    found = detect(members.url("/login"))
    assert (found.user_field, found.password_field, found.problem) == ("user", "pass", "")
    new = reverse("crawl-point-new", args=[document.pk])
    sent = entries | {"auth_type": "4", "sign_in_url": members.url("/login"), "do": "detect"}
    form = browser.post(new, sent).context["form"]
    assert (form["sign_in_user_field"].value(), form["sign_in_password_field"].value()) == ("user", "pass")


def test_a_page_without_a_password_field_is_said(site: Site) -> None:
    assert detect(site.url("/a/")).problem == NOT_FOUND
    assert "in an address" in fields_of(b"<form><input name=u><input type=password name=p></form>", "x").problem


@pytest.mark.parametrize(("password", "words"), [(PASSWORD, "The sign-in works"), ("wrong", "The site refused")])
def test_a_sign_in_is_tried_with_the_password_typed(
    password: str, words: str, browser: Any, document: Document, members: FormSite, entries: Any
) -> None:
    new = reverse("crawl-point-new", args=[document.pk])
    sent = entries | {
        "url": members.url("/home"), "root": members.url("/"), "auth_type": "4", "login": USER, "password": password,
        "sign_in_url": members.url("/login"), "sign_in_user_field": "user", "sign_in_password_field": "pass",
        "do": "sign_in",
    }  # fmt: skip
    shown = text_of(browser.post(new, sent))
    assert words in shown and "Without a password" in shown
    assert password not in shown or password == "wrong"
    good = password == PASSWORD
    assert f'<p class="notice {"ok" if good else "bad"}">' in shown, "said where a page without scripts begins"
    assert "There is a problem" not in shown and "<title>Error" not in shown
    assert shown.count("Enter the new password again") == 2, "above and at the field"


@pytest.mark.parametrize("kind", ["1", "2", "3"])
def test_a_redirect_does_not_prove_a_password(
    kind: str, browser: Any, document: Document, site: Site, entries: Any
) -> None:
    sent = entries | {
        "url": site.url("/a/moved"), "root": site.url("/a/"), "auth_type": kind, "login": "me", "password": "canary-7Q",
        "do": "sign_in",
    }  # fmt: skip
    answer = browser.post(reverse("crawl-point-new", args=[document.pk]), sent)
    assert not answer.context["tried"].good
    assert "The page redirects to /a/b.html; the password was not tested there" in text_of(answer)


# ---- preview ----


def test_a_preview_looks_at_pages_and_stores_nothing(
    browser: Any, document: Document, here: CrawlPoint, site: Site
) -> None:
    answer = browser.post(reverse("preview-start", args=[document.pk]))
    row = Preview.objects.get()
    assert answer.url == reverse("preview", args=[document.pk, row.pk])
    assert "Waiting for a free worker" in text_of(browser.get(answer.url))
    dry_run.carry_out(row.pk)
    dry_run.carry_out(row.pk)  # a bell that rings twice
    row.refresh_from_db()
    got = {line["url"].removeprefix(site.url("")): line["outcome"] for line in row.result["pages"]}
    assert got == dict.fromkeys(["/a/", "/a/b.html", "/a/c/d.html", "/a/c/e.html"], "crawled")
    assert row.result["outside"] == [[site.url("/out/"), 2]]
    assert row.result["estimate"] == "No more in-scope addresses are waiting: a full crawl is likely to store 4 pages."
    shown = text_of(browser.get(answer.url))
    assert "All pages that these settings reach were fetched." in shown and "Depth 2" in shown
    assert not PageVersion.objects.exists() and not LedgerEntry.objects.exists()
    assert asked(site).count("/a/") == 1


def test_a_preview_of_the_dialog_can_be_kept_changed_and_narrowed(
    browser: Any, document: Document, site: Site, entries: dict[str, str]
) -> None:
    new = reverse("crawl-point-new", args=[document.pk])
    sent = entries | {"url": site.url("/a/"), "root": site.url("/a/"), "password": "canary-7Q", "do": "preview"}
    browser.post(new, sent)
    row = Preview.objects.get()
    assert "canary" not in str(row.entries) + str(row.snapshot)
    again = reverse("preview-again", args=[document.pk, row.pk])
    browser.post(again, {"exclude": site.url("/a/c/*")})
    narrowed = Preview.objects.order_by("-pk")[0]
    dry_run.carry_out(narrowed.pk)
    narrowed.refresh_from_db()
    assert narrowed.result["stored"] == 2
    shown = browser.get(reverse("preview", args=[document.pk, narrowed.pk]))
    assert "Keep these settings" in text_of(shown)
    assert browser.post(new, dict(shown.context["entries"]) | {"do": "save"}).status_code == 302
    assert queries.points_of(document).get().url == site.url("/a/")
    assert queries.patterns_of(document) == [site.url("/a/c/*")]


def test_a_preview_ends_after_25_pages_and_says_what_it_means(document: Document, site: Site) -> None:
    site.pages["/many/"] = page("".join(f'<a href="{n}">x</a>' for n in range(40)))
    for number in range(40):
        site.pages[f"/many/{number}"] = page("text")
    values = {"url": site.url("/many/"), "root": site.url("/many/"), "depth": 1, "max_pages": 30}
    services.add_crawl_point(document, values)
    row = dry_run.preview_rows.ask(dry_run.snapshot_of(document), "editor", {})
    dry = dry_run.DryRun(row, dry_run.snapshot_of(document), document)
    ended = dry.run()
    dry.line.close()
    assert (ended, dry.stored) == ("pages", 25)
    assert dry.result(ended)["estimate"] == (
        "At least 16 more in-scope addresses were found; a full crawl is likely to reach the limit of 30."
    )


def test_folders_count_all_that_waits_in_them_and_below(document: Document, site: Site) -> None:
    site.pages["/a/"] = page("".join(f'<a href="c/{n}.html">x</a>' for n in range(130)) + '<a href="c/deep/1">x</a>')
    services.add_crawl_point(document, {"url": site.url("/a/"), "root": site.url("/a"), "depth": 1})
    row = dry_run.preview_rows.ask(dry_run.snapshot_of(document), "editor", {})
    dry = dry_run.DryRun(row, dry_run.snapshot_of(document), document)
    dry.frontier.seed()
    dry._absorb()
    dry._one(dry.heap.pop()[2])
    dry._absorb()
    dry.line.close()
    told = dry.result("")
    tree = tree_of(told["pages"], told["waiting_folders"], dry.snapshot.points)
    lines = [(one["folder"], len(one["indent"]), one["fetched"], one["waiting"], one["start"]) for one in tree]
    assert lines == [
        (site.url("/"), 0, 1, 131, True), (site.url("/a/"), 1, 1, 131, True), (site.url("/a/c/"), 2, 0, 131, False),
        (site.url("/a/c/deep/"), 3, 0, 1, False),
    ]  # fmt: skip


def test_a_folder_excluded_in_a_preview_of_saved_settings_can_be_kept(
    browser: Any, document: Document, here: CrawlPoint, site: Site
) -> None:
    services.add_exclude_url(document, site.url("/a/old*"))
    browser.post(reverse("preview-start", args=[document.pk]))
    first = Preview.objects.get()
    browser.post(reverse("preview-again", args=[document.pk, first.pk]), {"exclude": site.url("/a/c/*")})
    first.refresh_from_db()
    assert first.stop and first.started_at is None  # two previews at once would ask the site twice
    second = Preview.objects.order_by("-pk")[0]
    shown = browser.get(reverse("preview", args=[document.pk, second.pk]))
    assert shown.context["new_excludes"] == [site.url("/a/c/*")] and "Add to exclude URLs" in text_of(shown)
    browser.post(reverse("exclude-urls", args=[document.pk]), {"pattern": "\n".join(shown.context["new_excludes"])})
    assert site.url("/a/c/*") in queries.patterns_of(document)
    shown = browser.get(reverse("preview", args=[document.pk, second.pk]))
    assert "Add to exclude URLs" not in text_of(shown)


def test_a_preview_that_fetched_nothing_says_why(
    browser: Any, document: Document, here: CrawlPoint, site: Site
) -> None:
    browser.post(reverse("preview-start", args=[document.pk]))
    row = Preview.objects.get()
    row.snapshot["excludes"] = [site.url("/a/*")]
    row.save()
    dry_run.carry_out(row.pk)
    shown = text_of(browser.get(reverse("preview", args=[document.pk, row.pk])))
    assert "Nothing was fetched." in shown and "<dt>excluded</dt><dd>1</dd>" in shown and "Out of scope" in shown


def test_a_poll_that_knows_everything_gets_204(browser: Any, document: Document, here: CrawlPoint) -> None:
    browser.post(reverse("preview-start", args=[document.pk]))
    row = Preview.objects.get()
    live = reverse("preview-live", args=[document.pk, row.pk])
    mark = browser.get(live).context["mark"]
    assert browser.get(live, {"since": mark}).status_code == 204
    browser.post(reverse("preview-stop", args=[document.pk, row.pk]))
    assert browser.get(live, {"since": mark}).status_code == 200
    dry_run.carry_out(row.pk)
    row.refresh_from_db()
    assert row.started_at is None


def test_a_forbidden_start_page_leads_to_robots_txt_and_to_who_can_help(
    browser: Any, administrator: Any, document: Document, site: Site
) -> None:
    point, _ = services.add_crawl_point(document, {"url": site.url("/secret/"), "root": site.url("/secret/")})
    shown = text_of(browser.get(reverse("crawl-point-look", args=[document.pk, point.pk])))
    host = site.url("/").split("/")[2]
    assert f"robots.txt of {host} forbids /secret/" in shown
    assert f'href="http://{host}/robots.txt"' in shown and "Open robots.txt" in shown
    assert "or ask an administrator, administrator" in shown
