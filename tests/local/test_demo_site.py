"""The demo site is a site like any other: pages worth reading, and the faults real sites have."""

import base64
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from urllib.parse import urljoin

import pypdfium2
import pytest

from clearinghouse.local.demo import MEMBER
from clearinghouse.local.demo.demo_server import open_site
from clearinghouse.local.demo.demo_site import answers


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = open_site(0)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    with server:
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def get(address: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    request = urllib.request.Request(
        address, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )
    try:
        with urllib.request.build_opener(Stay).open(request, timeout=5) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as answer:
        return answer.code, dict(answer.headers), answer.read()


def pages() -> dict[str, str]:
    return {path: one.body.decode() for path, one in answers().items() if one.status == 200 and "html" in one.type}


def test_there_are_some_sixty_pages_in_several_folders():
    assert 40 <= len(pages()) <= 60
    folders = {path.split("/")[1] for path in pages() if path.count("/") > 1}
    assert folders == {"measures", "guidelines", "tools", "documents", "archive", "members", "private"}


def test_every_page_has_a_title_a_description_and_a_heading():
    for path, text in pages().items():
        assert re.search(r"<title>[^<]{5,}</title>", text), path
        assert re.search(r'<meta name="description" content="[^"]{10,}"', text), path
        assert "<h1>" in text, path


def test_only_the_broken_links_are_broken():
    broken = set()
    for path, text in pages().items():
        for link in re.findall(r'href="([^"]+)"', text):
            address = urljoin(f"http://demo{path}", link)
            if address.startswith("http://demo/") and address[11:] not in answers():
                broken.add(address[11:])
    assert broken == {"/measures/infection/oxygen-saturation.html", "/documents/annual-report-2019.pdf"}


def test_the_documents_are_real_pdf_files_with_text(site):
    for name, words in (
        ("annual-report-2025", "Door-to-balloon"),
        ("checklist", "Sign-in"),
        ("guide-for-boards", "run charts"),
    ):
        status, headers, body = get(f"{site}/documents/{name}.pdf")
        assert (status, headers["Content-Type"]) == (200, "application/pdf")
        document = pypdfium2.PdfDocument(body)
        assert words in "".join(page.get_textpage().get_text_bounded() for page in document)


def test_the_members_area_asks_for_its_password(site):
    assert get(f"{site}/members/")[0] == 401
    token = base64.b64encode(":".join(MEMBER).encode()).decode()
    assert get(f"{site}/members/", Authorization=f"Basic {token}")[0] == 200


@pytest.mark.parametrize(
    ("path", "status", "location"),
    [
        ("/quality-measures/", 301, "/measures/"),
        ("/go/partner", 302, "https://www.example.org/partners/northfield"),
        ("/moved/1", 302, "/moved/2"),
        ("/loop/a", 302, "/loop/b"),
        ("/tools/calculator.html", 410, None),
        ("/archive/statistics", 500, None),
        ("/never-was", 404, None),
    ],
)
def test_it_has_the_faults_of_real_sites(site, path, status, location):
    found, headers, _ = get(f"{site}{path}")
    assert (found, headers.get("Location")) == (status, location)


def test_an_unchanged_page_is_not_sent_twice(site):
    _, headers, _ = get(f"{site}/about.html")
    status, _, body = get(f"{site}/about.html", If_None_Match=headers["ETag"])
    assert (status, body) == (304, b"")
