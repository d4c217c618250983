"""Five hundred odd queries through HTTP: quotes, operators, emoji, 10 kB, zero bytes, broken UTF-8, pages far away."""

import itertools
import random
from urllib.parse import quote_from_bytes

import pytest

from clearinghouse.published.models import LexiconWord
from clearinghouse.search.curation import services
from clearinghouse.search.curation.services import Given
from tests.proves import proves

from .library import publish

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
PIECES = [
    b'"', b"'", b'""', b"AND (", b"OR", b"NOT", b"NEAR(a b, 2)", b"(((", b")", b"*", b"a*", b"-", b"--", b"-a",
    b"title:",
    b"site:", b'site:"', b"type:zzz", b"after:9999-99-99", b"before:x", b"document:", b"project:%", b"col:*", b"^a",
    b"a^2",
    b"{a b}", b"[a]", b"a:b", b":", b"|", b"&", b"!", b"<->", b"a & b", b"'; DROP TABLE published_version; --", b"%",
    b"_", b"\\", b"\x00", b"\x00word", b"\x1f", b"\x7f", b"\xff\xfe", b"\xc3\x28", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80",
    "😀 hospital".encode(), "\u202ehospital".encode(), "ﬁnance".encode(), "İstanbul".encode(), "ß".encode(),
    "日本語".encode(),
    "a\u0301".encode() * 50, b"x" * 10_000, b"word " * 2_000, b'"' * 10_000, b"(" * 10_000, b"-a " * 3_000,
    b"a* " * 500,
    b"hospital", b"hospitl", b"safety*", b"<script>", b"{{7*7}}", b"${7*7}", b"../../etc", b"https://a.example/?q=1&b=2",
]  # fmt: skip
OTHERS = [
    "page=99999999999999999999", "page=-1", "page=0", "page=%00", "page=1&page=2", "sort=", "sort=%ff",
    "sort=best&sort=x",
    "type=pdf&type=pdf&type=%00", "site=%00", "site=" + "a." * 2000, "project=%ff&project=", "document=-1",
    "document=9999999999999999999999", "document=1&document=x", "more=%00", "more=site&more=type", "q=again",
    "format=%00",
]  # fmt: skip


def odd_queries() -> list[str]:
    """Each piece alone, pairs of pieces, each with some other parameter; the same five hundred every time."""
    chance = random.Random(5)
    pairs = list(itertools.product(PIECES, PIECES))
    texts = [*PIECES, *(b" ".join(pair) for pair in chance.sample(pairs, 500 - len(PIECES)))]
    others = itertools.cycle(["", *OTHERS])
    return [f"?q={quote_from_bytes(text)}&{other}" for text, other in zip(texts, others, strict=False)]


@pytest.mark.parametrize("text", ["🙂", "*", '"" "', "-", "type:zzz", "( ) + ^", "。"])
def test_what_holds_no_word_gets_an_answer_with_help(client, db, text):
    publish("primary", [{"title": "Hospital", "text": "safety"}])
    answer = client.get("/search/", {"q": text})
    page = answer.content.decode()
    assert answer.status_code == 200 and "There is no word to look for" in page and "Type one or more words" in page
    assert "no word to look for" not in client.get("/search/").content.decode()


@proves("J6")
def test_500_odd_queries_never_get_an_error_page(client, db):
    LexiconWord.objects.using("primary").create(word="hospital", pages=3)
    services.add(Given("synonym", "hospital", "clinic\nward"))
    services.add(Given("stopword", "a the"))
    publish("primary", [{"title": f"Hospital {n}", "text": "safety words of a hospital"} for n in range(3)])
    client.raise_request_exception = False
    queries = odd_queries()
    assert len(queries) == 500
    wrong = [query[:200] for query in queries if client.get(f"/search/{query}").status_code != 200]
    assert wrong == []
    for path in ("/search/feed.atom", "/search/suggest", "/search/advanced/"):
        wrong = [query[:200] for query in queries[::10] if client.get(path + query).status_code not in (200, 302)]
        assert wrong == [], path
