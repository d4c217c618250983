"""Pages that broke a reader once, or would break a simpler one: found by tests/hostile and by reading the code."""

import subprocess
import sys
import time

import pytest

from crawler.extract.html.libxml_tree import NODES_AT_MOST
from crawler.fetch.sign_in import sign_in_forms
from tests.extract.test_extract import read, urls
from tests.proves import proves


@proves("E4")
@pytest.mark.parametrize("reference", ["&#xD800;", "&#xdfff;", "&#55296;", "&#057343;", "&#xD8&#xD800;00;"])
def test_references_to_surrogates_cost_only_themselves(reference: str) -> None:
    page = read(f"<rss><channel><title>a{reference}b</title><link>/x</link></channel></rss>", "text/xml")
    assert page.title.startswith("a") and page.title.endswith("b")
    assert urls(page) == ["http://a.org/x"]
    page.text.encode()


def test_a_namespace_that_is_none_hides_no_link() -> None:
    assert urls(read('<r xmlns="u}v"><link>/x</link><a href="/no"/></r>', "text/xml")) == ["http://a.org/x"]


@pytest.mark.parametrize("opening", ["<h1>", "<a href=x><div>", "<h2><a href=x><table><tr><td>"])
def test_words_inside_a_thousand_links_or_headings_are_not_copied_a_thousand_times(opening: str) -> None:
    body = opening * (1_900 // opening.count("<")) + "some words <b>here</b> " * 100_000
    begun = time.process_time()
    page = read(body)
    assert time.process_time() - begun < 4 * len(body) / 1e6
    assert len(page.headings) + sum(len(link.anchor) for link in page.links) < 8 * len(body)
    assert page.text.startswith("some words here")


def test_links_inside_links_do_not_look_at_what_they_hold_one_by_one() -> None:
    body = "<body>" + "<a href=x><noscript>" * 240 + "<i></i>" * 100_000
    begun = time.process_time()
    page = read(body)
    assert time.process_time() - begun < 2 * len(body) / 1e6 and len(page.links) == 240


def test_an_ordinary_page_keeps_all_words_of_its_links_and_headings() -> None:
    page = read("<h2><a href=x><b>one</b> two</a></h2>" * 2_000)
    assert {link.anchor for link in page.links} == {"one two"} and len(page.links) == 2_000
    assert page.headings == "\n".join(["one two"] * 2_000)


@proves("E2")
@pytest.mark.parametrize("head", ["<!--" + "-x" * 2_000_000 + "-->", "<?x " + "? " * 2_000_000 + "?>"])
def test_a_long_comment_before_the_root_costs_what_it_is_long(head: str) -> None:
    body = head + "<r><loc>/x</loc></r>"
    assert urls(read(body, "text/xml")) == ["http://a.org/x"]
    refused = read(head + "<!DOCTYPE x><r><loc>/x</loc></r>", "text/xml")
    assert (refused.links, refused.flags) == ([], ["no_text"])


_MEASURED = """
from tests.hostile.bombs import memory_at_most, read
page = read(({body}).encode(), {kind!r}, "http://a.org/")
print(len(page.links), page.flags, memory_at_most())
"""


@proves("D6", "goal 13")
@pytest.mark.parametrize(
    ("body", "kind", "found"),
    [
        ("'<p>x' * 1_200_000 + '<a href=x>y</a>'", "text/html", "1 []"),
        ("'<b a=1 b=2 c=3></b>' * 300_000 + '<a href=x>y</a>'", "text/html", "1 []"),
        # One element that is made again in every paragraph: as much of it as lexbor is given, and far too much of it.
        (
            "'<p><b ' + ' '.join(f'a{n:x}' for n in range(1_400)) + '></p>' + '<p>x' * 800 + '<a href=x>y</a>'",
            "text/html",
            "1 []",
        ),
        (
            "'<p>' + ''.join(f'<b a{n} b c d>' for n in range(2_000)) + '</p>' + '<p>x' * 2_000 + '<a href=x>y</a>'",
            "text/html",
            "1 []",
        ),
        ("'<r><loc>/x</loc>' + '<a/>' * 2_300_000 + '</r>'", "text/xml", "1 ['body_cut']"),
    ],
)
def test_no_page_costs_more_than_300_megabytes(body: str, kind: str, found: str) -> None:
    command = [sys.executable, "-c", _MEASURED.format(body=body, kind=kind)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=_environment())
    said, _, most = done.stdout.strip().rpartition(" ")
    assert said == found
    assert int(most) < 300_000_000


def _environment() -> dict[str, str]:
    return {"DJANGO_SETTINGS_MODULE": "tests.settings", "PYTHONPATH": ":".join(sys.path)}


def test_many_elements_make_no_tree_but_are_all_read() -> None:
    page = read("<p>x" * (NODES_AT_MOST + 1) + '<h1>H</h1><a href="/y">y</a>')
    assert (urls(page), page.headings, page.flags) == (["http://a.org/y"], "H", [])


@pytest.mark.parametrize("body", [b"<input " * 700_000, b"<input type=" * 400_000, b"<input " + b" type" * 900_000])
def test_looking_for_a_password_field_takes_no_longer_than_the_page(body: bytes) -> None:
    begun = time.process_time()
    assert sign_in_forms._PASSWORD_FIELD.search(body) is None
    assert time.process_time() - begun < 1
