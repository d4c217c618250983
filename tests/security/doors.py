"""Owns: every door through which an address that somebody chose makes this machine send a request (threats T1, T2).

Each is opened as the product opens it: the place goes in, what was said about it comes out. Does not: judge.
Called by: test_t01_t02_every_door, and rebinding inside a network of its own.
"""

import os
from collections.abc import Callable
from urllib.parse import unquote

from clearinghouse.library.models import Document
from crawler.inbox import webhooks
from crawler.launching.launch import snapshot_of
from crawler.models import Host, LedgerEntry, Preview
from crawler.preview import dry_run, fetch_once, form_detection, preview_rows, sign_in_test
from crawler.propagation.switching import load_balancer
from crawler.values import PointSettings, Snapshot
from crawlpoints.dialog import preflight
from tests.crawler.conftest import crawl, make_document
from tests.sites.misbehaving import Asked, Site, page, redirect

Door = Callable[[str, Site], object]


def furnish(site: Site) -> None:
    """An allowed site that sends whoever comes to /go to the place named behind the question mark."""
    site.pages["/"] = page("<title>Here</title>here")
    form = "<form method=post><input name=u><input type=password name=p></form>"
    site.pages["/login"] = page(form, "Connection: close")
    site.pages["/go"] = lambda asked: redirect(unquote(asked.target.partition("?")[2]))(asked)


def _points(*urls: str) -> tuple[PointSettings, ...]:
    return tuple(PointSettings(number, url, url, depth=3) for number, url in enumerate(urls, start=1))


def _fetch(place: str, *points: str) -> object:
    found = fetch_once.visit(Snapshot(1, _points(*points)), {}, place)
    return [hop.reason or hop.status for hop in found.hops] or found.verdict


def _fetched_by_redirect(place: str, site: Site) -> object:
    return _fetch(site.url(f"/go?{place}/"), site.url("/"), f"{place}/")


def _with_robots(look: Callable[[Site], object]) -> Door:
    """robots.txt of the allowed site leads to the place, and nobody remembers it from before."""

    def opened(place: str, site: Site) -> object:
        Host.objects.all().delete()
        site.pages["/robots.txt"] = redirect(f"{place}/robots.txt")
        try:
            return look(site)
        finally:
            del site.pages["/robots.txt"]

    return opened


def _sign_in(kind: int) -> Door:
    def opened(place: str, site: Site) -> object:
        point = PointSettings(
            1, f"{place}/", f"{place}/", auth_type=kind, login="u", sign_in_url=f"{place}/login",
            sign_in_user_field="u", sign_in_password_field="p",
        )  # fmt: skip
        return sign_in_test.try_sign_in(point, "typed").verdict

    return opened


def _look_after_a_save(place: str, site: Site) -> object:
    document = make_document({"url": f"{place}/"})
    snapshot = snapshot_of(document)
    found = fetch_once.visit(snapshot, {point.id: point for point in snapshot.points}, f"{place}/", preflight.SECONDS)
    return [hop.reason or hop.status for hop in found.hops]


def _preview(place: str, site: Site) -> object:
    document = make_document({"url": f"{place}/"})
    row = preview_rows.ask(snapshot_of(document), "test", {})
    dry_run.carry_out(row.pk)
    return [line["reason"] or line["status"] for line in Preview.objects.get(pk=row.pk).result["pages"]]


def _crawl(document: Document) -> object:
    run = crawl(document)
    return sorted(LedgerEntry.objects.filter(excursion__run=run).values_list("reason", flat=True))


def _crawled_by_redirect(place: str, site: Site) -> object:
    site.pages["/lead"] = redirect(f"{place}/")
    return _crawl(make_document({"url": site.url("/lead"), "root": site.url("/")}, {"url": f"{place}/x"}))


def _crawled_from_a_sitemap(place: str, site: Site) -> object:
    listed = f"<urlset><url><loc>{place}/</loc></url></urlset>"
    site.pages["/map.xml"] = page(listed, kind="text/xml")
    return _crawl(make_document({"url": site.url("/map.xml")}, {"url": f"{place}/x", "depth": 0}))


def _switch_hook(place: str, site: Site) -> object:
    os.environ["CLEARINGHOUSE_SWITCH_URL"] = f"{place}/switch"
    try:
        load_balancer.tell("backup", lambda: None)
    except load_balancer.HookFailed as failed:
        return str(failed)
    finally:
        del os.environ["CLEARINGHOUSE_SWITCH_URL"]
    return "told"


DOORS: dict[str, Door] = {
    "crawl": lambda place, site: _crawl(make_document({"url": f"{place}/"})),
    "crawl, behind a redirect": _crawled_by_redirect,
    "crawl, robots.txt": _with_robots(lambda site: _crawl(make_document({"url": site.url("/")}))),
    "crawl, a sitemap": _crawled_from_a_sitemap,
    "Fetch it now": lambda place, site: _fetch(f"{place}/", f"{place}/"),
    "Fetch it now, behind a redirect": _fetched_by_redirect,
    "Fetch it now, robots.txt": _with_robots(lambda site: _fetch(site.url("/"), site.url("/"))),
    "the look after a save": _look_after_a_save,
    "Detect": lambda place, site: form_detection.detect(f"{place}/login").problem,
    "Test sign-in, Basic": _sign_in(1),
    "Test sign-in, Digest": _sign_in(2),
    "Test sign-in, NTLM": _sign_in(3),
    "Test sign-in, form": _sign_in(4),
    "preview": _preview,
    "a webhook": lambda place, site: webhooks.post(f"{place}/hook", {}),
    "the address of the switch": _switch_hook,
}


def arrivals(site: Site, name: str, place: str) -> list[Asked]:
    """What the site was asked for while this door led to the place."""
    before = len(site.log)
    DOORS[name](place, site)
    return site.log[before:]
