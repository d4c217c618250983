"""Where feeds, sitemaps and other XML lead: what stands there, never what mending made of it."""

import time

import pytest

from tests.unit.test_extract import read, urls


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
    """Only what stands whole in the bytes: between its tags or quotes, with references XML knows."""
    locs = [
        "/?a=1&lang=2",
        "/?a=1&amp;b=2",
        "/x&nbsp;y",
        "/&#xD800;",
        "/\0",
        "/\x08",
        "<![CDATA[/c?a&b]]>",
        "/é",
        "/d</lc>",
    ]
    sitemap = "<urlset>" + "".join(f"<url><loc>{loc}</loc></url>" for loc in locs) + "<url><loc>http://b.org/half"
    assert urls(read(sitemap, "text/xml")) == ["http://a.org/?a=1&b=2", "http://a.org/c?a&b", "http://a.org/%C3%A9"]
    feed = '<feed><link href="/?c&d"/><link href="/?a&#38;b" title="T"/><link title=no href=/no><link href="/ha'
    assert urls(read(feed, "text/xml")) == ["http://a.org/?a&b"]
    sound = "<urlset><url><loc>/?a=1&amp;b=2</loc></url></urlset>"
    assert urls(read(sound[:-8], "text/xml")) == urls(read(sound, "text/xml")) == ["http://a.org/?a=1&b=2"]
    assert urls(read(b"<urlset><url><loc>/caf\xe9</loc></url></urlset>", "text/xml; charset=utf-8")) == []


def test_a_base_counts_only_where_elements_are_nested_as_written() -> None:
    entries = '<entry xml:base="http://b.org/"><link href="1"/></entry>'
    assert urls(read(f"<feed>{entries}</feed>", "text/xml")) == ["http://b.org/1"]
    damaged = (
        entries.removesuffix("</entry>") + '<entry><link href="2"/></entry><entry><link href="http://c.org/"/></entry>'
    )
    assert urls(read(f"<feed>{damaged}</feed>", "text/xml")) == ["http://c.org/"]


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
