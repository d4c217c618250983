"""Two trees, one reading: lexbor reads ordinary pages, libxml2 the long ones, and nobody can tell which it was."""

import dataclasses
from pathlib import Path

import pytest

from crawler.extract.html import lexbor_tree, libxml_tree
from crawler.extract.html.elements import PageElements
from tests.bench import site
from tests.extract.test_extract import read, urls

PAGES = {
    "blocks and words": "<h1>Big <b>ne</b>ws</h1><p>one<p>two<br>three<ul><li>a<li>b</ul>H<sub>2</sub>O"
    "<table><tr><td>x<td>y",
    "nothing between words": "a<!-- c -->b<?pi?>c<span></span>d<script>no()</script>e<style>p{}</style>f<wbr>g"
    "<x-own>h</x-own>i",
    "attributes": "<a href>1</a><a href=''>2</a><a HREF=' x '>3</a><a name=n>4</a><a rel='me NoFollow' href=y>5</a>",
    "head": "<html lang=en-GB><title> T\n</title><base href=/b/><meta name=d content='x  y'><meta name=e>"
    "<link rel=canonical href=c><link rel=stylesheet href=s><meta http-equiv=refresh content='1;url=r'>",
    "words in links": "<a href=x>A <i>li</i>nk<br>here</a> <a href=z><img src=i></a><map><area href=m alt=Map></map>",
    "left out": "<template><a href=no>no</a><h2>no</h2></template><noscript><a href=yes>yes</a></noscript>"
    "<title>late</title>",
    "drawings": "<svg><title>Menu</title><g><title>x</title></g><a xlink:href=s><text>in it</text></a></svg>"
    "<title>Page</title><svg><title>late</title></svg><p>text",
    "only drawings": "<p>text<svg><title>Menu</title></svg>",
    "embedded": "<object data=o type=text/html><p>no object</p></object><embed src=e><embed src=v type=video/mp4>"
    "<object data=f.swf type=application/x-shockwave-flash></object><object></object>",
    "references": "<p>&lt;&amp;&copy;&#228;&nbsp;&notit; &#xD800;",
}


def by_both(page: str) -> tuple[tuple[PageElements, str], tuple[PageElements, str]]:
    data = page.encode()
    one, other = lexbor_tree.read(data), libxml_tree.read(data)
    assert one is not None and other is not None
    return one, other


def words(text: str) -> list[str]:
    return text.split()


@pytest.mark.parametrize("name", PAGES)
def test_both_trees_give_the_same_page(name: str) -> None:
    (ours, text), (theirs, other) = by_both(PAGES[name])
    assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
    assert words(text) == words(other)


def test_both_trees_give_the_same_site(tmp_path: Path) -> None:
    site.write(20, tmp_path)
    for file in tmp_path.rglob("*.html"):
        (ours, text), (theirs, other) = by_both(file.read_text())
        assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
        assert words(text) == words(other)


def test_where_they_differ_the_standard_counts() -> None:
    page = read("<a href=one>1<a href=two>2</a><table><a href=three>3</a><tr><td>x</table>")
    assert urls(page) == ["http://a.org/d/one", "http://a.org/d/two", "http://a.org/d/three"]
    assert page.text == "123 x"


@pytest.mark.parametrize("depth", [0, 5_000])
def test_a_title_in_a_drawing_is_not_the_title_of_the_page(depth: int) -> None:
    drawing = "<svg viewBox='0 0 1 1'><title>Menu</title></svg>"
    page = read(f"<body>{'<div>' * depth}{drawing}<p>text{drawing}")
    assert (page.title, page.text) == ("", "text")
    assert read(f"<head></head>{'<div>' * depth}{drawing}<title>Page</title>{drawing}").title == "Page"


def test_what_readers_without_frames_see_leads_on_but_is_no_text() -> None:
    inside = "<noframes><h2>No</h2>frames? <a href=menu.html>The menu</a></noframes>"
    for page in (f"<h1>Yes</h1>{inside}<a href=x>x</a>", f"<h1>Yes</h1>{'<div>' * 5_000}{inside}<a href=x>x</a>"):
        found = read(page)
        assert (found.headings, found.text) == ("Yes", "Yes x")
        assert sorted(urls(found)) == ["http://a.org/d/menu.html", "http://a.org/d/x"]
    assert urls(read("<!-- <noframes><a href=no>no</a></noframes> --><script>'<noframes><a href=no>'</script>")) == []


def test_links_beside_frames_are_found() -> None:
    """The standard drops all that stands around a frameset; what leads to pages is not dropped."""
    page = "<frameset><frame src=a><frame src=b></frameset><a href=c>C</a>"
    assert lexbor_tree.read(page.encode()) is None
    assert sorted(urls(read(page))) == ["http://a.org/d/a", "http://a.org/d/b", "http://a.org/d/c"]


@pytest.mark.parametrize(
    "body",
    [
        b"<p><b a=1 b=2 c=3 d=4>" * 2_000,
        b"<p><b " + b" ".join(b"a%d" % n for n in range(9_000)) + b"></p>" + b"<p>x" * 900,
        b'<p><font x="' + b"a" * 20_000 + b"<p>" * 900,  # a tag without an end
        b"<div>" * 4_096,
        b"x" * 500_001,
    ],
    ids=["copies", "attributes", "open", "tags", "long"],
)
def test_what_would_make_a_huge_tree_is_left_to_the_others(body: bytes) -> None:
    assert not lexbor_tree.suits(body)


def test_ordinary_pages_are_for_lexbor() -> None:
    assert lexbor_tree.suits(b"") and lexbor_tree.suits(b"<p>x <b class='y'>z</b>" * 200)
