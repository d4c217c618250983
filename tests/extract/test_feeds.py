"""Where feeds, sitemaps and other XML lead: what stands there, never what mending made of it."""

import time

import pytest

from tests.extract.test_extract import read, urls


def test_items_of_feeds_without_a_link_lead_to_what_they_name() -> None:
    items = [
        "<guid>http://b.org/permanent</guid>",
        '<guid isPermaLink="false">http://b.org/no</guid><enclosure url="/e.pdf" type="application/pdf"/>',
        "<guid>urn:no</guid><enclosure url='/no.mp3' type='audio/mpeg'/>",
        "<guid>http://b.org/no</guid><link>/link</link><enclosure url='/no.pdf'/>",
    ]
    feed = f"<rss><channel><title>F</title>{''.join(f'<item>{item}</item>' for item in items)}</channel></rss>"
    found = ["http://b.org/permanent", "http://a.org/e.pdf", "http://a.org/link"]
    assert urls(read(feed, "application/rss+xml")) == found
    rdf = '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">'
    assert urls(read(f'{rdf}<item r:about="/about"/></r:RDF>', "text/xml")) == ["http://a.org/about"]
    entry = '<entry><content src="/content"/></entry><entry><link rel="enclosure" href="/brought"/></entry>'
    atom = f'<feed xmlns="http://www.w3.org/2005/Atom">{entry}</feed>'
    assert urls(read(atom, "application/atom+xml")) == ["http://a.org/content", "http://a.org/brought"]


def test_pictures_in_sitemaps_and_feeds_are_neither_pages_nor_titles() -> None:
    image = "<image:image><image:loc>/no.png</image:loc><image:title>No</image:title></image:image>"
    body = f'<urlset xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"><url>{image}<loc>/1</loc></url></urlset>'
    page = read(body, "text/xml")
    assert (urls(page), page.title) == (["http://a.org/1"], "")
    assert (
        read("<rss><channel><image><title>No</title></image><title>Yes</title></channel></rss>", "text/xml").title
        == "Yes"
    )


def test_an_address_that_had_to_be_mended_is_not_followed() -> None:
    """Only one that stands whole in the bytes: between its tags or quotes, with references XML knows."""
    ends = ["?a=1&lang=2", "?a=1&amp;b=2", "x&nbsp;y", "&#xD800;", "\0", "\x08", "é"]
    locs = [f"http://b.org/{end}" for end in ends] + [
        "<![CDATA[http://b.org/c?a&b]]>",
        "/relative",
        "http://b.org/d</lc>",
    ]
    sitemap = "<urlset>" + "".join(f"<url><loc>{loc}</loc></url>" for loc in locs) + "<url><loc>http://b.org/half"
    assert urls(read(sitemap, "text/xml")) == [
        f"http://{end}" for end in ("b.org/?a=1&b=2", "b.org/%C3%A9", "b.org/c?a&b", "a.org/relative")
    ]
    links = '<link href="http://b.org/?c&d"/><link href="http://b.org/?a&#38;b" title="T"/><link title=no href=http://b.org/no>'
    assert urls(read(f'<feed>{links}<link href="http://b.org/ha', "text/xml")) == ["http://b.org/?a&b"]
    sound = "<urlset><url><loc>http://b.org/?a=1&amp;b=2</loc></url></urlset>"
    assert urls(read(sound[:-8], "text/xml")) == urls(read(sound, "text/xml")) == ["http://b.org/?a=1&b=2"]


def test_an_address_in_a_charset_that_was_guessed_is_not_followed() -> None:
    """XML of which nobody says otherwise is UTF-8."""
    body = "<urlset><url><loc>http://b.org/café</loc></url><url><loc>http://b.org/1</loc></url></urlset>".encode(
        "latin-1"
    )
    assert urls(read(body, "text/xml")) == ["http://b.org/1"]
    assert urls(read(body, "text/xml; charset=utf-8")) == ["http://b.org/1"]
    said = ["http://b.org/caf%C3%A9", "http://b.org/1"]
    assert urls(read(body, "text/xml; charset=latin1")) == said
    assert urls(read(b'<?xml version="1.0" encoding="iso-8859-1"?>' + body, "text/xml")) == said
    assert "café" in read(body, "text/xml").text


def test_a_base_counts_only_where_elements_are_nested_as_written() -> None:
    entries = '<entry xml:base="http://b.org/"><link href="1"/></entry>'
    assert urls(read(f"<feed>{entries}</feed>", "text/xml")) == ["http://b.org/1"]
    assert urls(read(f"<feed>{entries.replace('http://b.org/', 'x/y')}</feed>", "text/xml")) == ["http://a.org/d/x/1"]
    open_entry = entries.removesuffix("</entry>")
    damaged = f'{open_entry}<entry><link href="2"/></entry><entry><link href="http://c.org/"/></entry>'
    assert urls(read(f"<feed>{damaged}</feed>", "text/xml")) == ["http://c.org/"]


def test_bases_in_bases_count_until_their_element_ends() -> None:
    entries = '<entry xml:base="c/"><link href="1"/></entry><link href="2"/><entry xml:base="mailto:x"><link href="3"/>'
    feed = f'<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://b.org/d/">{entries}</entry></feed>'
    assert urls(read(feed, "text/xml")) == ["http://b.org/d/c/1", "http://b.org/d/2", "http://b.org/d/3"]


LONG = "a/" * 250_000
FOLDERS = "a/" * 1_000


@pytest.mark.parametrize(
    "feed",
    [
        f'<feed xml:base="http://b.org/{LONG}">' + '<link href="b"/>' * 10_000 + "</feed>",
        f'<x xml:base="{FOLDERS}">' * 200 + '<link href="b"/>' * 10_000 + "</x>" * 200,
        "<link>" * 200 + "x<b/>" * 50_000 + "</link>" * 200,
        "<link>" * 200 + "x" * 2_000_000 + "<b/>x</link>" + "</link>" * 199,
    ],
    ids=["one base", "bases in bases", "links in links", "links around text"],
)
def test_bases_and_links_that_hold_much_take_little_time(feed: str) -> None:
    begun = time.process_time()
    read(feed, "text/xml")
    assert time.process_time() - begun < 2


def test_the_words_of_xml_that_is_not_well_formed_are_read_as_they_were_meant() -> None:
    body = "<r><p>AT&T &amp; caf&eacute; 1 &lt; 2 &nope; &#228;&#xD800;</p><![CDATA[x & y &amp; z]]><q>1</p>"
    assert read(body, "text/xml").text == "AT&T & café 1 < 2 &nope; ä\ufffd x & y &amp; z 1"


@pytest.mark.parametrize(
    "body",
    [
        b"<loc " * 2_000_000,
        b"<loc>" + b" " * 9_000_000 + b"<",
        b"<a" + b' href="x"' * 1_100_000,
        b"<a " + b"href='" * 1_600_000,
        b"&" * 10_000_000,
        b"<![CDATA[" * 1_000_000,
        b"<item>" * 1_000_000,
        b"<!--" * 2_500_000,
    ],
    ids=lambda body: str(body[:12]),
)
def test_ten_megabytes_of_damaged_xml_take_little_time(body: bytes) -> None:
    begun = time.process_time()
    read(b"<r>&x" + body, "text/xml")
    assert time.process_time() - begun < 10


_XML = "<?xml version='1.0'?>"
SOUND = {
    "sitemap": f"{_XML}<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://b.org/one</loc></url>"
    "<url><loc>http://b.org/?a=1&amp;b=2&amp;c=3</loc></url><url><loc>http://b.org/3</loc></url></urlset>",
    "rss": "<rss version='2.0'><channel><title>T</title><link>http://b.org/home</link><item><guid>http://b.org/guid/1</guid>"
    "</item><item><link>/item?a=1&amp;b=2</link></item><item><enclosure url='/file.pdf'/></item></channel></rss>",
    "atom": "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://b.org/x/'><link href='home'/><entry>"
    '<link rel="alternate" href="http://b.org/?a=1&amp;b=2"/></entry><entry><content src="content"/></entry></feed>',
}


@pytest.mark.parametrize("name", SOUND)
def test_wherever_a_feed_is_cut_no_address_is_new(name: str) -> None:
    whole = urls(read(SOUND[name], "text/xml"))
    assert len(whole) == 3 + (name == "rss")
    for end in range(len(SOUND[name])):
        assert set(urls(read(SOUND[name][:end], "text/xml"))) <= set(whole), SOUND[name][:end]


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("broken", [b"<", b"&", b"&lang=", b"<!--", b"\0", b"\x08", b"&x;", b"&#0;", b"\xed\xa0\x80"])
def test_wherever_a_feed_is_broken_no_address_is_new(name: str, broken: bytes) -> None:
    sound, whole = SOUND[name].encode(), set(urls(read(SOUND[name], "text/xml")))
    for place in range(len(sound)):
        damaged = sound[:place] + broken + sound[place:]
        assert set(urls(read(damaged, "text/xml"))) <= whole, damaged


def test_wherever_a_page_is_cut_no_address_is_new() -> None:
    page = (
        "<base href=/x/><p><a href=one>1</a><a href='/two?a=1&amp;b=2'>2</a><iframe src=three></iframe>"
        "<link rel=next href=four><meta http-equiv=refresh content='0;url=five'><object data=six></object>"
        "<noframes><a href=seven>7</a></noframes>"
    )
    whole = set(urls(read(page)))
    assert len(whole) == 7
    for end in range(page.index("<p>"), len(page)):
        for markup in (page[:end], "<div>" * 3_000 + page[:end]):
            assert set(urls(read(markup))) <= whole, markup[-60:]
