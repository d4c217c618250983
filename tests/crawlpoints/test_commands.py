"""add_crawl_point and add_exclude_url: what they print, how they refuse."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from clearinghouse.library.models import Document
from crawlpoints.models import CrawlPoint, ExcludeUrl
from crawlpoints.queries import password_of

pytestmark = pytest.mark.django_db


def run(*args: Any) -> Any:
    out = StringIO()
    call_command(*[str(arg) for arg in args], stdout=out)
    return json.loads(out.getvalue()) if "--json" in args else out.getvalue()


def test_a_crawl_point_gets_the_folder_of_its_url_as_root_string(document: Document) -> None:
    answer = run("add_crawl_point", document.pk, "https://example.gov/a/index.html", "--depth", 3, "--json")
    point = CrawlPoint.objects.get(pk=answer["crawl_point_id"])
    assert (point.root, point.depth, point.max_pages) == ("https://example.gov/a/", 3, 0)
    assert answer["warnings"] == []


def test_cautions_are_printed_and_answered(document: Document) -> None:
    args = ("add_crawl_point", document.pk, "https://example.gov/", "--depth", 9)
    assert run(*args, "--json")["warnings"] == ["This may crawl the whole site"]


def test_people_get_one_sentence(document: Document) -> None:
    text = run("add_crawl_point", document.pk, "https://example.gov/", "--inactive", "--note", "try")
    assert text.startswith("Added crawl point ") and "Measures of hospital quality" in text


def test_the_password_comes_from_the_environment_only(document: Document, monkeypatch: Any) -> None:
    monkeypatch.setenv("SITE_PASSWORD", "canary-9Z")
    auth = ("--auth", "digest", "--user", "me", "--password-env", "SITE_PASSWORD")
    answer = run("add_crawl_point", document.pk, "https://example.gov/", *auth, "--json")
    point = CrawlPoint.objects.get(pk=answer["crawl_point_id"])
    assert password_of(point) == "canary-9Z"
    assert "canary" not in json.dumps(answer)


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ((999, "https://example.gov/"), "There is no document 999"),
        (("DOC", "example.gov"), "URL must start with http:// or https://. Did you mean https://example.gov/?"),
        (("DOC", "https://example.gov/", "--user", "me"), "--user counts only with --auth basic, digest, ntlm, form"),
        (
            ("DOC", "https://example.gov/", "--auth", "basic", "--sign-in-url", "https://example.gov/in"),
            "--sign-in-url counts only with --auth form",
        ),
        (("DOC", "https://example.gov/", "--depth", "x"), "Depth limit must be a whole number, like 3"),
        (("DOC", "https://example.gov/", "--auth", "basic", "--user", "me"), "Enter the password"),
        (
            ("DOC", "https://example.gov/", "--auth", "basic", "--user", "me", "--password-env", "NOT_SET_1"),
            "The environment variable NOT_SET_1 is not set",
        ),
    ],
)
def test_wrong_use_ends_with_one_line_and_code_2(document: Document, args: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(CommandError) as caught:
        run("add_crawl_point", *(document.pk if arg == "DOC" else arg for arg in args))
    assert str(caught.value) == sentence
    assert caught.value.returncode == 2
    assert not CrawlPoint.everything.exists()


def test_an_exclude_url_is_added_to_the_document(document: Document) -> None:
    answer = run("add_exclude_url", document.pk, "https://example.gov/print/*", "--json")
    assert ExcludeUrl.objects.get(pk=answer["exclude_url_id"]).pattern == "https://example.gov/print/*"


@pytest.mark.parametrize(
    ("doc", "pattern", "sentence"),
    [("DOC", "measures", 'This is not an address: "measures"'), (999, "https://a.org/", "There is no document 999")],
)
def test_a_wrong_exclude_url_is_refused(document: Document, doc: Any, pattern: str, sentence: str) -> None:
    with pytest.raises(CommandError) as caught:
        run("add_exclude_url", document.pk if doc == "DOC" else doc, pattern)
    assert (str(caught.value), caught.value.returncode) == (sentence, 2)
