"""Heritrix' self-test sites: all pages of a site that can be reached from its first one, by links alone."""

from pathlib import Path
from urllib.parse import unquote

from clearinghouse.addresses import Address
from clearinghouse.addresses.parsing import parse
from crawler.extract.page_reader import read
from crawler.values import Extracted, Fetched, Request
from tests.suites import Result

NAME = "Heritrix: pages reached in its self-test sites"
FOLDER = "heritrix3"

_SITE = "http://localhost:8080/"
_TYPES = {
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".xml": "text/xml",
    ".rtf": "text/rtf",
}
_SCRIPTS = "addresses that only a script, a Flash file or the value of a form field names are not guessed"
_BASE = "a base that is a relative address counts as the URL Standard resolves it"
# site -> pages that are not reached, and why; a site that is not named here is reached whole
_UNREACHED = {
    "BadURIsStopPageParsingSelfTest": ({"goodone.html", "goodtwo.html"}, _BASE),
    "FlashParseSelfTest": ({"success.html"}, _SCRIPTS),
    "FormTagExtraction": ({"inputtag.html", "optiontag.html"}, _SCRIPTS),
    "SimpleJavascriptExtraction": ({"jscriptOpenWindow.html", "jscriptOpenWindowArg.html"}, _SCRIPTS),
}
_OLDER = ("FormTagExtraction", "Refresh", "SimpleJavascriptExtraction", "SpacesInHrefPath")
_SIGNED = ("FormAuth", "FormLogin", "HttpAuth")  # sites that ask who one is: only their server can be asked


def run(folder: Path) -> Result:
    result = Result()
    for site, place in _places(folder / "engine"):
        reached = _reached(place)
        unreached, reason = _UNREACHED.get(site, (set(), ""))
        for file in sorted(path for path in place.rglob("*") if path.suffix in _TYPES):
            name = str(file.relative_to(place))
            if name in unreached and name not in reached:
                result.differ(reason)
            else:
                result.judge(f"{site}: {name}", name in reached, True)
    return result


def _places(engine: Path) -> list[tuple[str, Path]]:
    """The sites that can be read as files, by name."""
    found = [(place.parent.name, place) for place in (engine / "testdata/selftest").glob("*/htdocs")]
    found += [(name, engine / "src/webapps/selftest" / name) for name in _OLDER]
    return sorted(
        (site, place) for site, place in found if not site.startswith(_SIGNED) and (place / "index.html").exists()
    )


def _reached(place: Path) -> set[str]:
    """The files of a site that a crawl comes to."""
    reached: set[str] = set()
    waiting = ["index.html"]
    while waiting:
        name = waiting.pop()
        file = place / name
        if name in reached or not file.is_file():
            continue
        reached.add(name)
        address = parse(f"{_SITE}{name}")
        assert isinstance(address, Address)
        headers = [("content-type", _TYPES.get(file.suffix, "application/octet-stream"))]
        found = read(Fetched(Request(address.href, address), 200, headers, file.read_bytes()), address)
        links = [link.url for link in found.links] if isinstance(found, Extracted) else []
        waiting += [unquote(link.removeprefix(_SITE).partition("#")[0]) or "index.html" for link in links]
    return reached
