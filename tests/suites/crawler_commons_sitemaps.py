"""crawler-commons' tests of sitemaps and feeds: the texts in its SiteMapParserTest, and its resource files.

What is expected stands here in our own words: which pages a file leads to. Times, priorities and the name of the format
are not read, so they are not judged.
"""

import re
from pathlib import Path

from clearinghouse.addresses import Address
from clearinghouse.addresses.parsing import parse
from crawler.extract.page_reader import read
from crawler.values import Extracted, Fetched, Request
from tests.suites import Result

NAME = "crawler-commons: sitemaps and feeds"
FOLDER = "crawler-commons"

_METHOD = re.compile(r"void (test\w+)\(\)(.*?)(?=\n    @Test|\Z)", re.DOTALL)
_BUILDER = re.compile(r"new StringBuilder\(\d*\);(.*?)getBytes", re.DOTALL)
_APPENDED = re.compile(r'(?:append\(|\+ )"((?:[^"\\]|\\.)*)"')
_SITE = "http://www.example.com/"
_CUT = "an address cut in its end tag is not followed: nobody knows whether it was whole"
_LENIENT = "damaged XML is read as far as its addresses stand whole, where they refuse it"
_PERMANENT = 'a guid that says isPermaLink="false" is no address, whatever it looks like (RSS 2.0)'
_TEXT = "plain text holds no links: a list of addresses is read as words"
_DOCTYPE = "XML with a DOCTYPE is not read: it could bring entities"
_OUTSIDE = "an address that stands in <sitemap> without <loc> is a word"

# test -> the addresses of each text in it, in order
_INLINE: dict[str, list[list[str]]] = {
    "testSitemapIndex": [
        [f"{_SITE}{end}" for end in (
            "sitemap1.xml.gz", "sitemap2.xml.gz", "dynsitemap?date=now&all=true", "dynsitemap?date=lastyear&all=false",
        )],
    ],
    "testSitemapXIncludeDisabled": [[f"{_SITE}visit-here"]],
    "testUnclosedSitemapIndexFile": [
        [f"https://www.example.org/sitemap{number}.xml" for number in (1, 2)],
        [f"https://www.example.org/sitemap{number}.xml" for number in (1, 2, 3)],
    ],
    "testStripUnicodeWhiteSpace": [[f"https://www.example.com/sitemap{number}.xml" for number in (1, 2)]],
    "testLenientParser": [[_SITE]],
    "testRSS10SyndicationFormat": [
        [f"{_SITE}pub", "http://www.xml.com/", f"{_SITE}pub/2000/08/09/xslt/xslt.html"],
    ],
    "testUrlLocUrl": [
        ["http://jobs.optistaffing.com/EXPERIENCED-DISPATCHER-NEEDED-NOW----Jobs-in-Vancouver-WA/2333221"],
    ],
    "testPartialSitemapIndicesAllowed": [[f"{_SITE}sitemap1.xml.gz"]],
    "testPartialSitemapsAllowed": [[]],
    "testSitemapParserBrokenXml": [["http://cs.harding.edu/fmccown/sitemaps/something.html"]],
    "testSitemapXXE": [[]],
    "testSitemapXXEWithDocTypeAllowed": [[]],
}  # fmt: skip
_BY_DESIGN = {
    "testPartialSitemapsAllowed": _CUT,
    "testSitemapParserBrokenXml": _LENIENT,
    "testSitemapXXEWithDocTypeAllowed": _DOCTYPE,
}
# file, type, address, number of pages, and of those we follow beside them: of the channel, alternates
_FILES = [
    ("sitemaps/sitemap.ns.xml", "text/xml", "sitemap.xml", 2, 0),
    ("sitemaps/sitemap.badns.xml", "text/xml", "sitemap.xml", 2, 0),
    ("rss/xmlRss_pubDate.xml", "text/xml", "rss.xml", 7, 1),
    ("sitemaps/atom.xml", "application/atom+xml", "atom.xml", 1, 2),
    ("rss/feed.rss", "application/rss+xml", "index.php?feed/rss", 3, 1),
    *(
        ("sitemaps/xmlSitemap.gz", kind, path, 5, 0)
        for kind in (
            "application/gzip", "application/x-gzip", "application/x-gunzip", "application/gzipped",
            "application/gzip-compressed", "gzip/document",
        )
        for path in ("sitemap.xml.gz", "sitemap")
    ),
]  # fmt: skip
_TEXTS = ["sitemap.txt", "sitemap-with-bom.txt", "sitemap.txt.gz"]


def run(folder: Path) -> Result:
    result = Result()
    source = (folder / "src/test/java/crawlercommons/sitemaps/SiteMapParserTest.java").read_text()
    tests = dict(_METHOD.findall(source))
    for name, expected in _INLINE.items():
        bodies = [_text(builder) for builder in _BUILDER.findall(tests[name].replace("scontent = new", "new"))]
        for body, addresses in zip(bodies, expected, strict=True):
            ours = _links(body, "text/xml", "sub/sitemap.xml")
            if name in _BY_DESIGN and ours == addresses:
                result.differ(_BY_DESIGN[name])
            else:
                result.judge(name, ours, addresses)
    _files(folder / "src/test/resources", result)
    return result


def _files(resources: Path, result: Result) -> None:
    for name, kind, path, pages, beside in _FILES:
        links = _links((resources / name).read_bytes(), kind, path)
        result.judge(f"{name} as {kind} at {path}", len(links), pages + beside)
    outside = _links((resources / "sitemaps/sitemap.index.xml").read_bytes(), "text/xml", "sitemap.xml")
    result.differ(_OUTSIDE, cases=int(outside == []))
    result.differ(_PERMANENT)  # the fourth item of feed.rss
    for name in _TEXTS:
        result.differ(_TEXT, cases=int(_links((resources / "sitemaps" / name).read_bytes(), "text/plain", name) == []))
    for file in sorted((resources / "sitemaps/extension").glob("*.xml")):
        body = file.read_text()
        locs = {address.replace("&amp;", "&") for address in re.findall(r"<loc>\s*(.*?)\s*</loc>", body)}
        links = set(_links(body.encode(), "text/xml", file.name))
        result.judge(file.name, {_canonical(loc) for loc in locs} - links, set())
        result.judge(
            f"{file.name}: no pictures", [link for link in links if link.endswith((".jpg", ".png", ".flv"))], []
        )


def _links(body: bytes, kind: str, path: str) -> list[str]:
    address = parse(f"{_SITE}{path}")
    assert isinstance(address, Address)
    found = read(Fetched(Request(address.href, address), 200, [("content-type", kind)], body), address)
    return [link.url for link in found.links] if isinstance(found, Extracted) else []


def _canonical(href: str) -> str:
    address = parse(href)
    return address.href if isinstance(address, Address) else href


def _text(builder: str) -> bytes:
    """What a StringBuilder of Java is given."""
    pieces = _APPENDED.findall(builder)
    text = "".join(pieces).replace('\\"', '"').replace("\\n", "\n")
    return re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), text).encode()
