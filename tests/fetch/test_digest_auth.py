"""Digest authentication: what it computes, how many requests it costs, and whom it never answers."""

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearinghouse.addresses.parsing import split
from crawler.fetch.curl import CurlTransport
from crawler.fetch.sign_in import digest_auth
from crawler.values import Credentials, Fetched, Request
from tests import vectors
from tests.proves import proves
from tests.sites.digest import DigestDoor
from tests.sites.misbehaving import Asked, Site, page

MUFASA = Credentials(2, "Mufasa", "Circle of Life")
ALGORITHMS = ["", "MD5", "SHA-256", "SHA-512-256", "MD5-sess", "SHA-256-sess", "SHA-512-256-sess"]


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


@pytest.fixture
def fetcher() -> Iterator[CurlTransport]:
    fetcher = CurlTransport(16)
    yield fetcher
    fetcher.close()


def get(fetcher: CurlTransport, *urls: str, credentials: Credentials | None = MUFASA) -> list[Fetched]:
    for url in urls:
        fetcher.start(Request(url, split(url), credentials=credentials))
    answers: list[Fetched] = []
    while fetcher.active():
        answers += fetcher.wait(1)
    return answers


@proves("G2")
def test_responses_of_the_rfcs() -> None:
    rows = vectors.cases("rfc", "http-digest.json")
    for row in rows:
        challenge = digest_auth.Challenge(row["realm"], row["nonce"], None, row["alg"], row["qop"] or "", False)
        credentials = Credentials(2, row["user"], row["pw"])
        computed = digest_auth.response(challenge, credentials, row["uri"], row["nc"] or "", row["cnonce"] or "")
        assert computed == row["response"], row["source"]
    assert len(rows) == 5


@proves("G2")
@pytest.mark.parametrize(
    ("realm", "target", "proof"),
    [
        (r"test \"this\" realm!!", "/1095", "df3246f44d2bc8de0e9f8fc4d7cf6e95"),
        (r"t\est \"this\" \realm!!", "/1095", "df3246f44d2bc8de0e9f8fc4d7cf6e95"),  # nobody needs these backslashes
    ],
)
def test_a_realm_with_quotes_is_hashed_as_it_is_meant_and_sent_back_quoted(realm: str, target: str, proof: str) -> None:
    """RFC 9110, 5.6.4: a backslash and what it protects are that character. The value curl's own test 1095 expects."""
    (challenge,) = digest_auth.digests([f'Digest realm="{realm}", nonce="1053604145"'])
    header = digest_auth.authorization(challenge, Credentials(2, "testuser", "testpass"), target, 1)
    assert r'realm="test \"this\" realm!!"' in header
    assert f'response="{proof}"' in header
    assert "cnonce" not in header and "nc=" not in header and "qop" not in header


@proves("G2")
@pytest.mark.parametrize("odd", [r'a "b" c', "a\\", r"\\\"", '"', "a, nonce=x"])
def test_servers_with_odd_words_let_us_in(site: Site, fetcher: CurlTransport, odd: str) -> None:
    door = site.pages["/"] = DigestDoor(realm=odd, opaque=odd)
    assert [get(fetcher, site.url("/"))[0].body for _ in range(2)] == [b"let in"] * 2
    assert {(sent["realm"], sent["opaque"]) for sent in door.sent} == {(odd, odd)}


def test_the_example_of_the_rfc_with_a_hashed_user_name() -> None:
    asked = 'Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, nonce="5TsQ", userhash=true'
    (challenge,) = digest_auth.digests([asked])
    header = digest_auth.authorization(challenge, Credentials(2, "Jäsøn Doe", "Secret, or not?"), "/doe.json", 1)
    assert 'username="793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b"' in header
    assert "userhash=true" in header and "Jäsøn" not in header


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ('Digest realm="a", nonce="1"', ["1"]),
        ('Basic realm="a", Digest realm="a", nonce="1", Digest realm="a", nonce="2", algorithm=SHA-256', ["1", "2"]),
        ('Negotiate, digest REALM="a,b", Nonce=1 ,, qop="auth-int, auth"', ["1"]),
        ('NTLM TlRM/abc==, Digest realm="a", nonce="1"', ["1"]),
        ('Negotiate YII=, DIGEST realm="a" , nonce = "1" ,qop=auth', ["1"]),
        ('Bearer abc.def-ghi, Digest realm="a", nonce="1", Negotiate oY+/w', ["1"]),
        ('Digest realm="a", nonce="1", qop="auth auth-int"', ["1"]),
        (r'Digest realm="a\", nonce="1"', []),
        ('Digest realm="a", nonce="1", algorithm=SHA-1', []),
        ('Digest realm="a", nonce="1", qop="other"', []),
        ('Digest realm="a"', []),
        ('Digest nonce="1"', []),
        ('Digest realm="a", nonce=""', []),
        ('Digest realm="a", nonce="1", nonce="2"', []),
        ('Digest realm="a\x01", nonce="1"', []),
        (f'Digest realm="a", nonce="{"1" * 5000}"', []),
        ('Digest realm="a, nonce="1"', []),
        ("Basic", []),
        ("", []),
        (",,;;", []),
    ],
)
def test_challenges_are_read_and_unusable_ones_left_alone(value: str, found: list[str]) -> None:
    assert [challenge.nonce for challenge in digest_auth.digests([value])] == found


@proves("G2")
@pytest.mark.parametrize(
    ("algorithm", "qop"), list(product(ALGORITHMS, ["auth", "auth-int, auth", "auth-int", "auth,auth-int"]))
)
def test_servers_let_us_in(site: Site, fetcher: CurlTransport, algorithm: str, qop: str) -> None:
    door = site.pages["/dir/index.html"] = DigestDoor(algorithm=algorithm, qop=qop)
    first, second = (get(fetcher, site.url("/dir/index.html?a=%20b"))[0] for _ in range(2))
    assert (first.body, second.body, len(site.log)) == (b"let in", b"let in", 3)
    assert [sent["nc"] for sent in door.sent] == ["00000001", "00000002"]
    assert {sent["qop"] for sent in door.sent} == {"auth-int" if qop == "auth-int" else "auth"}


@proves("G2")
def test_the_old_form_without_qop(site: Site, fetcher: CurlTransport) -> None:
    site.pages["/"] = DigestDoor(qop="", algorithm="")
    assert [answer.body for answer in get(fetcher, site.url("/"))] == [b"let in"]


def test_names_and_passwords_outside_ascii_are_utf_8(site: Site, fetcher: CurlTransport) -> None:
    site.pages["/"] = DigestDoor(user='J"äsøn\\ Doe', password="Sécret: 密")
    answer = get(fetcher, site.url("/"), credentials=Credentials(2, 'J"äsøn\\ Doe', "Sécret: 密"))[0]
    assert answer.body == b"let in"


@proves("G3")
def test_the_strongest_algorithm_is_answered(site: Site, fetcher: CurlTransport) -> None:
    weaker = '\r\nWWW-Authenticate: Digest realm="a, b", nonce="x", qop="auth"\r\nWWW-Authenticate: Basic realm="a, b"'
    door = site.pages["/"] = DigestDoor(algorithm="SHA-256", extra=weaker)
    assert get(fetcher, site.url("/"))[0].body == b"let in"
    assert [sent["algorithm"] for sent in door.sent] == ["SHA-256"]


@proves("G2")
def test_a_stale_nonce_costs_one_more_request(site: Site, fetcher: CurlTransport) -> None:
    door = site.pages["/"] = DigestDoor(lifetime=2)
    for _ in range(6):
        before = len(site.log)
        assert get(fetcher, site.url("/"))[0].body == b"let in"
        assert len(site.log) - before <= 2
    assert (len(site.log), door.refusals) == (9, 3)


@proves("G2")
def test_the_next_nonce_is_used_at_once(site: Site, fetcher: CurlTransport) -> None:
    door = site.pages["/"] = DigestDoor(lifetime=1, next_nonces=True)
    for _ in range(5):
        assert get(fetcher, site.url("/"))[0].body == b"let in"
    assert (len(site.log), door.refusals) == (6, 1)


def test_many_at_once_are_all_let_in_with_two_requests_each_at_most(site: Site, fetcher: CurlTransport) -> None:
    site.pages["/"] = DigestDoor(lifetime=3)
    for _ in range(5):
        answers = get(fetcher, *(site.url(f"/?{n}") for n in range(12)))
        assert {answer.body for answer in answers} == {b"let in"}
    asked = [one.target for one in site.log]
    assert max(asked.count(target) for target in asked) <= 10


def test_a_wrong_password_costs_two_requests(site: Site, fetcher: CurlTransport) -> None:
    site.pages["/"] = DigestDoor(password="another")
    answer = get(fetcher, site.url("/"))[0]
    assert (answer.status, answer.reason, len(site.log)) == (401, "", 2)


@proves("G3")
@pytest.mark.parametrize("challenge", ['Digest realm="other", nonce="1", qop="auth"', 'Basic realm="a, b"'])
def test_once_let_in_no_other_realm_and_no_basic_gets_an_answer(
    site: Site, fetcher: CurlTransport, challenge: str
) -> None:
    site.pages["/"] = DigestDoor()
    assert get(fetcher, site.url("/"))[0].body == b"let in"
    site.pages["/"] = page("", f"WWW-Authenticate: {challenge}", status="401 Unauthorized")
    site.log.clear()
    for _ in range(2):
        assert get(fetcher, site.url("/"))[0].status == 401
    given = [asked.headers.get("authorization", "") for asked in site.log]
    assert len(given) == 2 and given[1] == ""  # the first still answered the nonce it knew
    assert not any("other" in value or value.startswith("Basic") for value in given)


@proves("D22")
@pytest.mark.parametrize(
    ("challenge", "requests"),
    [
        ("", 1),
        ("WWW-Authenticate: Foo realm=x", 1),
        ("WWW-Authenticate: Digest", 1),
        ('WWW-Authenticate: Digest realm="x", nonce="1", qop="auth"', 2),
        ('WWW-Authenticate: Digest realm="x", nonce="1", qop="auth", stale=true', 2),
    ],
)
def test_a_refusal_never_costs_more_than_two_requests(
    site: Site, fetcher: CurlTransport, challenge: str, requests: int
) -> None:
    site.pages["/"] = page("", *([challenge] if challenge else []), status="401 Unauthorized")
    for n in range(1, 4):
        assert get(fetcher, site.url("/"))[0].status == 401
        assert len(site.log) <= 2 * n
    assert len([asked for asked in site.log if "authorization" in asked.headers]) >= (3 if requests == 2 else 0)
    assert requests == 2 or len(site.log) == 3


@given(st.text(st.sampled_from('Digest realm="a",nonce=\\ \r\n\0qopé;MD5-sess'), max_size=80))
def test_no_challenge_breaks_anything(text: str) -> None:
    for challenge in digest_auth.digests([text, 'Digest realm="a", nonce="b", ' + text]):
        header = digest_auth.authorization(challenge, MUFASA, "/", 1)
        assert not {"\r", "\n", "\0"} & set(header) and "Circle" not in header


def test_two_passwords_on_one_site_do_not_mix(site: Site, fetcher: CurlTransport) -> None:
    site.pages["/a"], site.pages["/b"] = DigestDoor(), DigestDoor(user="Scar", password="Be prepared", realm="b")
    scar = Credentials(2, "Scar", "Be prepared")
    for _ in range(2):
        assert get(fetcher, site.url("/a"))[0].body == b"let in"
        assert get(fetcher, site.url("/b"), credentials=scar)[0].body == b"let in"
    assert get(fetcher, site.url("/a"), credentials=None)[0].status == 401
    assert len(site.log) == 7


def test_both_requests_share_the_time_and_the_bytes_of_one(site: Site, fetcher: CurlTransport) -> None:
    site.pages["/"] = DigestDoor()
    answer = get(fetcher, site.url("/"))[0]
    assert answer.received > 40_000  # most of it is the refusal


def test_a_challenge_with_a_line_break_never_becomes_a_header(site: Site, fetcher: CurlTransport) -> None:
    def challenge(asked: Asked) -> bytes:
        return b'HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm="a\rX: y", nonce="1"\r\nContent-Length: 0\r\n\r\n'

    site.pages["/"] = challenge
    assert get(fetcher, site.url("/"))[0].status in (0, 401)
    assert len(site.log) == 1
