"""Threat T25 at the web server: what is sent to us, or read while somebody waits, is bounded."""

import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from clearinghouse.addresses import Address
from clearinghouse.addresses.parsing import parse
from clearinghouse.web.body_limits import MOST_BYTES, MOST_OF_AN_IMPORT
from crawler.fetch.sign_in import sign_in_forms
from crawler.fetch.sign_in.point_key import FORM, PointKey, SiteSignInForm
from crawler.preview.form_detection import detect
from crawler.values import Fetched, Request
from tests.sites.misbehaving import Site, page

pytestmark = pytest.mark.django_db(databases="__all__")


@pytest.mark.parametrize("path", ["/sign-in/", "/search/", "/api/v1/documents/", "/no/such/page/"])
def test_t25_nobody_fills_our_disk_by_sending_files(
    client: Client, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Django would write each of them to the disk before it looks who sends it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    written: list[str] = []
    make = tempfile.NamedTemporaryFile
    monkeypatch.setattr(tempfile, "NamedTemporaryFile", lambda *a, **k: written.append(path) or make(*a, **k))
    large = SimpleUploadedFile("x.csv", b"x" * (MOST_BYTES + 1))
    answer = client.post(path, {"file": large})
    assert (answer.status_code, answer["Content-Type"]) == (413, "text/plain")
    assert b"Send less at once" in answer.content and not written
    assert "default-src 'self'" in answer["Content-Security-Policy"]


def test_t25_what_people_do_send_fits(signed_in: Any, editor: Any, document: Any) -> None:
    """A file of 2 MB is read, line by line and beside the request."""
    large = SimpleUploadedFile("x.csv", b"url,root\n" + b"https://quality.example.gov/a/,x\n" * 60_000)
    answer = signed_in(editor).post(f"/documents/{document.pk}/crawl-points/import/", {"file": large}, follow=True)
    assert answer.status_code == 200 and "Import crawl points" in answer.content.decode()


def test_t25_only_an_import_may_be_long_and_nobody_unknown_sends_one(client: Client, document: Any) -> None:
    address = f"/documents/{document.pk}/crawl-points/import/"
    most = b"x" * (MOST_BYTES + 1)
    assert client.post(address, most, content_type="text/csv").status_code == 302, "to the sign-in page, unread"
    assert client.post(f"/api/v1{address}", most, content_type="text/csv").status_code == 401
    answer = client.post(address, b"x" * (MOST_OF_AN_IMPORT + 1), content_type="text/csv")
    assert (answer.status_code, answer.content) == (413, b"This is more than 21 MB. Send less at once.")


@pytest.mark.parametrize("piece", ["<a>", "<p>", "<form><input name=a>", "<table><tr><td>", "<b><i>"])
def test_t25_a_sign_in_page_of_countless_tags_is_not_read(piece: str) -> None:
    """A megabyte of them would hold a crawler, or a person who presses Detect, for 12 seconds."""
    body = (piece * (990_000 // len(piece))).encode()
    began = time.process_time()
    with Site() as site:
        site.pages["/login"] = page(body)
        assert detect(site.url("/login")).problem == "The page is too large to be a sign-in page"
        address = parse(site.url("/login"))
        assert isinstance(address, Address)
        key = PointKey(FORM, "u", "p", point_id=1, form=SiteSignInForm(address.href, "u", "p", ""))
        found = sign_in_forms.fill_in(Fetched(Request(address.href, address), 200, [], body), key)
        assert found == "the sign-in page is too large"
    assert time.process_time() - began < 2
