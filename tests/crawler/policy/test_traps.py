"""Sites without an end: the crawl of each ends, never takes a page too many, and says what it cut off and why."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from crawler.ledger.ledger_check import faults
from crawler.models import LedgerEntry
from crawler.values import REASONS
from tests.crawler.conftest import crawl, make_document
from tests.proves import proves
from tests.sites.misbehaving import Answer, Asked, Page, Site, page, redirect

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])

MOST = 30  # pages of each site
Trap = Callable[[str], Page]  # what stands behind the site's own name -> the answer
_chance = random.Random(5)


def links(*hrefs: str) -> Page:
    return page("".join(f"<a href='{href}'>x</a>" for href in hrefs))


def number(tail: str) -> int:
    return int((re.findall(r"\d+", tail) or ["0"])[-1])


def anything() -> str:
    return f"{_chance.getrandbits(60):x}"


def _letters(tail: str, count: int = 3) -> str:
    """A way to spell a path that was never seen before."""
    return "".join(_chance.choice("aA") for _ in range(count + len(tail)))


def _endless_body(tail: str) -> Page:
    def serve(asked: Asked) -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=next>n</a>"
        while True:
            yield b"and so on " * 10_000

    return serve if not tail else page("the end")


def _cookie_wall(tail: str) -> Page:
    return page("", f"Location: {tail or 'wall'}", f"Set-Cookie: a={anything()}", status="302 Found")


# name: (what it answers, the reasons that must stand in its ledger; none: all of it was crawled)
TRAPS: dict[str, tuple[Trap, set[str]]] = {
    "calendar": (lambda t: links(f"{2000 + number(t) % 2000 + 1}", f"{2000 + number(t) % 2000 - 1}"), {"too_deep"}),
    "calendar-query": (lambda t: links(f"?month={number(t) + 1}", f"?month={number(t) - 1}&day=1"), {"too_deep"}),
    "token": (lambda t: links(f"?token={anything()}", f"?token={anything()}"), {"page_limit"}),
    "phpsessid": (lambda t: links(f"?PHPSESSID={anything()}", f"?a=1&PHPSESSID={anything()}"), set()),
    "jsessionid": (lambda t: links(f"x;jsessionid={anything()}"), set()),
    "a-b-a-b": (lambda t: links("a/b/", "b/a/"), {"trap_suspected"}),
    "relative": (lambda t: links("more/"), {"trap_suspected"}),
    "language": (lambda t: links("en/", "de/", "fr/"), {"trap_suspected"}),
    "base": (lambda t: page("<base href='deeper/'><a href='x/'>x</a>"), {"trap_suspected"}),
    "facets": (lambda t: links(f"{'?' if '?' not in t else t + '&'}f{t.count('=')}=1"), {"too_deep"}),
    "many-facets": (lambda t: links("?" + "&".join(f"f{n}=1" for n in range(14))), {"trap_suspected"}),
    "segments": (lambda t: links("/".join(anything() for _ in range(6)) + "/"), {"trap_suspected"}),
    "to-itself": (lambda t: redirect(t) if t else links("r"), {"redirect_loop"}),
    "circle": (lambda t: redirect(f"{(number(t) + 1) % 3}") if t else links("0"), {"redirect_loop"}),
    "growing-redirect": (lambda t: redirect(f"?n={number(t) + 1}") if t else links("?n=1"), {"too_many_redirects"}),
    "cookie-wall": (lambda t: _cookie_wall(t) if t else links("wall"), {"redirect_loop"}),
    "self-refresh": (lambda t: page("<meta http-equiv=refresh content='0'><a href=x>x</a>"), set()),
    "refresh-chain": (lambda t: page(f"<meta http-equiv=refresh content='0; url={number(t) + 1}'>"), {"too_deep"}),
    "soft-404": (lambda t: links(anything(), anything(), "../" * 2 + "soft-404/" + anything()), {"page_limit"}),
    "long": (lambda t: links((t or "x") * 4), {"too_long"}),
    "wide": (lambda t: links(*(f"p{n}" for n in range(3_000))), {"page_limit"}),
    "sorting": (lambda t: links(*(f"?sort={a}&by={b}&way={c}" for a in "abcde" for b in "xyz" for c in "ud")),
                {"page_limit"}),
    "pages": (lambda t: links(f"?page={number(t) + 1}"), {"too_deep"}),
    "fragments": (lambda t: links(*(f"#{anything()}" for _ in range(50))), set()),
    "letters": (lambda t: links(_letters(t), _letters(t)), {"page_limit"}),
    "escapes": (lambda t: links("%61b", "a%62", "ab", "%61%62", "./ab", "x/../ab"), set()),
    "endless-body": (_endless_body, set()),
    "feed": (lambda t: page(f"<rss><item><link>{number(t) + 1}</link></item></rss>", kind="text/xml"), {"too_deep"}),
}  # fmt: skip


class Everywhere(dict[str, Page]):
    """Every address there is: /name/tail?query."""

    def get(self, path: str, default: object = None) -> Page | None:  # type: ignore[override]
        return None if path == "/robots.txt" else _answer


def _answer(asked: Asked) -> Answer:
    _, name, tail = asked.target.split("/", 2)
    return TRAPS[name][0](tail)(asked)


@proves("rule 12", "I5", "I12", "D15", "E12", "F2", "F9", "F10", "F11", "goal 9")
def test_every_trap_ends_at_its_limit_and_each_cut_has_a_reason() -> None:
    with Site() as site:
        site.pages = Everywhere()
        run = crawl(*(make_document({"url": site.url(f"/{name}/"), "max_pages": MOST}) for name in TRAPS))
    assert run.state in ("finished", "finished_at_limit")
    assert faults(run) == []
    fetched, reasons = _fetched(site), _reasons(run.pk)
    assert len(TRAPS) >= 25
    for name, (_, expected) in TRAPS.items():
        assert {reason for reason in reasons[name] if reason} >= expected, (name, reasons[name])
        assert expected or set(reasons[name]) == {""}, (name, reasons[name])
        assert len(fetched[name]) <= MOST
        if expected == {"page_limit"}:
            assert reasons[name][""] == MOST, (name, reasons[name])
    assert {reason for found in reasons.values() for reason in found} <= {"", *REASONS}


def _fetched(site: Site) -> dict[str, set[str]]:
    """The addresses each site was asked for, but for those that redirect."""
    found: dict[str, set[str]] = {name: set() for name in TRAPS}
    for asked in site.log:
        name = asked.target.split("/")[1]
        if name in found and not _redirects(asked):
            found[name].add(asked.target)
    return found


def _redirects(asked: Asked) -> bool:
    _, name, tail = asked.target.split("/", 2)
    return name in ("to-itself", "circle", "growing-redirect", "cookie-wall") and bool(tail)


def _reasons(run: int) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {name: Counter() for name in TRAPS}
    for url, reason in LedgerEntry.objects.filter(excursion__run=run).values_list("url", "reason"):
        found.setdefault(url.split("/")[3], Counter())[reason] += 1
    return found
