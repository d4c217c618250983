"""What people may not know stays unsaid: by numbers, by old notices, by cookies, by accounts that are not theirs."""

import re
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from clearinghouse.library.models import Document
from crawler.word_index import page_counts
from tests.fetch.test_fetch import fetch
from tests.people import PASSWORD
from tests.search.library import publish
from tests.sites.misbehaving import Site, page

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])


def test_t57_on_development_words_are_counted_only_for_who_sees_every_document(
    signed_in: Any, program: Any, administrator: Any, editor: Any, document: Document, other_document: Document
) -> None:
    docs = enumerate((document.pk, other_document.pk), 1)
    publish(
        "default", [{"doc_id": doc, "page_id": n, "url": f"https://a.example/{n}", "text": "merger"} for n, doc in docs]
    )
    page_counts.follow("default")
    address = "index/word/?word=merger&target=development"
    assert program(administrator).ask("GET", address)[1]["pages"] == 2
    told = program(editor).ask("GET", address)[1]
    assert (told["pages"], told["word_id"], len(told["postings"])) == (None, None, 1)
    shown = signed_in(editor).get("/index/word/?w=merger&server=development")
    assert (shown.context["pages"], shown.context["word_id"]) == (None, None)
    assert "being counted" not in shown.content.decode()


def test_t58_an_administrator_by_role_does_not_come_by_a_superusers_account(signed_in: Any, administrator: Any) -> None:
    users = get_user_model().objects
    chief, other = users.create_superuser("chief", password=PASSWORD), users.create_superuser("other")
    address = f"/settings/people/{chief.pk}/"
    browser = signed_in(administrator)
    for path, sent in ((f"{address}password/", {}), (f"{address}active/", {"active": "0"})):
        assert browser.post(path, sent).status_code in (403, 404)
    browser.post(address, {"role": "indexer", "email": "me@here.example", "projects": []})
    chief.refresh_from_db()
    assert (chief.check_password(PASSWORD), chief.is_active, chief.email) == (True, True, "")
    assert "superuser" in browser.get(address).content.decode()
    assert signed_in(other).post(f"{address}password/").status_code == 200


def test_t59_who_only_searches_is_given_no_cookie(client: Client, db: Any) -> None:
    for path in ("/search/", "/search/?q=anything", "/search/advanced/", "/help/"):
        assert client.get(path).status_code == 200 and not client.cookies, path
    client.get("/sign-in/")
    assert client.cookies["csrftoken"]["max-age"] == ""  # until the browser is closed


def test_t60_whoever_signs_out_leaves_no_draft_behind(signed_in: Any, administrator: Any) -> None:
    """static/drafts.js discards them where a form says that it signs out; also in the tables of the administrator."""
    browser = signed_in(administrator)
    for path in ("/", "/documents/", "/settings/admin/", "/settings/admin/audit/entry/"):
        page = browser.get(path).content.decode()
        forms = re.findall(r'<form[^>]*action="[^"]*(?:sign-out|logout)/"[^>]*>', page)
        assert all("data-sign-out" in form for form in forms), path
        assert forms or path.startswith("/settings/admin/")


def test_t38_no_site_is_told_where_we_came_from() -> None:
    with Site() as site:
        site.pages["/"] = page(b"", "Location: /next", "Set-Cookie: seen=1", status="302 Found")
        site.pages["/next"] = page(b"words")
        fetch(site.url("/"))
        fetch(site.url("/next"))
        fetch(site.url("/next"), etag='"1"', last_modified="Mon, 06 Jan 2025 10:00:00 GMT", identity_encoding=True)
        for one in site.log:
            assert not {"referer", "cookie", "authorization"} & {name.lower() for name in one.headers}
        assert len(site.log) == 3


def test_t37_no_account_opens_without_a_password_of_ours(client: Client, db: Any) -> None:
    user = get_user_model().objects.create_user("from-elsewhere", is_superuser=True)
    assert not user.has_usable_password()
    for password in ("", "!", user.password, "*)(uid=*"):
        entered = {"username": "from-elsewhere", "password": password}
        assert client.post("/sign-in/", entered).status_code in (422, 429)
    assert (
        client.get("/documents/", REMOTE_USER="from-elsewhere", headers={"Remote-User": "from-elsewhere"}).status_code
        == 302
    )
    assert "_auth_user_id" not in client.session
