"""Why libcurl, lxml and ada-url stand beside requests and BeautifulSoup: the same pages with each of them.

python -m tests.bench.libraries [--pages 1000] [--rounds 3]
"""

import io
import time
from collections.abc import Callable, Sequence
from statistics import median
from urllib.parse import urljoin

import ada_url
import pycurl
import requests
from bs4 import BeautifulSoup
from lxml import etree
from selectolax.lexbor import LexborHTMLParser

from clearinghouse.addresses import parsing as parse
from tests.bench import machine, site
from tests.bench.crawl import folder, nginx, options_of

AT_ONCE = 16
Way = Callable[[], int]  # does it for all pages, or all links; says how many


# -- fetching ---------------------------------------------------------------------------------------------------------


def by_requests(urls: list[str]) -> Way:
    def run() -> int:
        with requests.Session() as session:
            return sum(1 for url in urls if session.get(url, timeout=10).content)

    return run


def by_one_handle(urls: list[str]) -> Way:
    def run() -> int:
        handle, count = pycurl.Curl(), 0
        for url in urls:
            body = io.BytesIO()
            handle.setopt(pycurl.URL, url)
            handle.setopt(pycurl.WRITEDATA, body)
            handle.perform()
            count += bool(body.tell())
        handle.close()
        return count

    return run


def by_multi(urls: list[str]) -> Way:
    def run() -> int:
        multi, waiting, count = pycurl.CurlMulti(), list(reversed(urls)), 0
        free = [pycurl.Curl() for _ in range(AT_ONCE)]
        bodies = {}
        while waiting or bodies:
            while waiting and free:
                handle = free.pop()
                bodies[handle] = io.BytesIO()
                handle.setopt(pycurl.URL, waiting.pop())
                handle.setopt(pycurl.WRITEDATA, bodies[handle])
                multi.add_handle(handle)
            multi.perform()
            _, done, failed = multi.info_read()
            if not done and not failed:
                multi.select(0.1)
            for handle in [*done, *(one[0] for one in failed)]:
                multi.remove_handle(handle)
                count += bool(bodies.pop(handle).tell())
                free.append(handle)
        return count

    return run


# -- parsing: the title, the addresses of all links, the text ---------------------------------------------------------


def by_soup(pages: list[bytes], builder: str) -> Way:
    def run() -> int:
        found = 0
        for body in pages:
            soup = BeautifulSoup(body, builder)
            links = [a["href"] for a in soup.find_all("a", href=True)]
            found += bool(soup.title and links and soup.get_text())
        return found

    return run


def by_lxml(pages: list[bytes]) -> Way:
    def run() -> int:
        found = 0
        for body in pages:
            root = etree.HTML(body)
            links = root.xpath("//a/@href")
            found += bool(root.findtext(".//title") and links and root.xpath("string()"))
        return found

    return run


def by_selectolax(pages: list[bytes]) -> Way:
    def run() -> int:
        found = 0
        for body in pages:
            tree = LexborHTMLParser(body)
            links = [a.attributes["href"] for a in tree.css("a[href]")]
            found += bool(tree.css_first("title") and links and tree.text())
        return found

    return run


# -- addresses --------------------------------------------------------------------------------------------------------


def by_resolver(links: list[tuple[str, list[str]]]) -> Way:
    """What it remembers from page to page is forgotten first, as at the start of a crawl."""

    def run() -> int:
        parse._cache.clear()
        return sum(len(parse.Resolver(base).many(hrefs)) for base, hrefs in links)

    return run


def one_by_one(links: list[tuple[str, list[str]]], join: Callable[[str, str], str]) -> Way:
    return lambda: sum(len([join(base, href) for href in hrefs]) for base, hrefs in links)


def by_ada(base: str, href: str) -> str:
    return str(ada_url.join_url(base, href))


# -- the table --------------------------------------------------------------------------------------------------------


def seconds_each(ways: dict[str, Way], count: int, rounds: int) -> dict[str, float]:
    """Alternating; the median of the rounds, for one page or link."""
    took: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            began = time.perf_counter()
            if (found := way()) != count:
                raise ValueError(f"{name} found {found} of {count}")
            took[name].append((time.perf_counter() - began) / count)
    return {name: median(times) for name, times in took.items()}


def rows_of(what: str, found: dict[str, float], links: bool = False) -> list[tuple[str, ...]]:
    """The first is what the others are compared with."""
    first = next(iter(found.values()))
    figure = (lambda each: f"{each * 1e6:.2f} µs a link") if links else (lambda each: f"{1 / each:,.0f} pages/s")
    return [(what, name, figure(each), f"{first / each:.1f} ×") for name, each in found.items()]


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(arguments, __doc__ or "", pages=1000, rounds=3)
    machine.require("nginx")
    with folder() as work:
        site.write(options.pages, work / "site")
        paths = [site.path_of(number) for number in range(options.pages)]
        pages = [(work / "site" / path).read_bytes() for path in paths]
        with nginx(work / "site", work) as address:
            urls = [f"{address}/{path}" for path in paths]
            report(urls, pages, options.rounds)


def report(urls: list[str], pages: list[bytes], rounds: int) -> None:
    fetching = {
        "requests.Session.get": by_requests(urls),
        "pycurl, one handle": by_one_handle(urls),
        f"pycurl multi, {AT_ONCE} connections": by_multi(urls),
    }
    parsing = {
        "BeautifulSoup(html.parser)": by_soup(pages, "html.parser"),
        "BeautifulSoup(lxml)": by_soup(pages, "lxml"),
        "lxml": by_lxml(pages),
        "selectolax": by_selectolax(pages),
    }
    links = [
        (url, [str(one) for one in etree.HTML(body).xpath("//a/@href")]) for url, body in zip(urls, pages, strict=True)
    ]
    addresses = {
        "urllib.parse.urljoin": one_by_one(links, urljoin),
        "ada_url.join_url": one_by_one(links, by_ada),
        "Resolver (ada-url and a memory)": by_resolver(links),
    }
    rows = rows_of("fetching", seconds_each(fetching, len(urls), rounds))
    rows += rows_of("parsing: title, links, text", seconds_each(parsing, len(pages), rounds))
    count = sum(len(hrefs) for _, hrefs in links)
    rows += rows_of("addresses", seconds_each(addresses, count, rounds), links=True)
    size = sum(len(body) for body in pages) / len(pages) / 1000
    title = f"Libraries: {len(pages)} pages of {size:.0f} KB, {rounds} rounds, medians, one process"
    machine.table(title, ("what", "with", "figure", "of the first"), rows)


if __name__ == "__main__":
    main()
