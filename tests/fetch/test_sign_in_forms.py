"""Sign-in forms: found, filled in, sent to their own site only; the cookies used, and renewed once when they end."""

import time
from collections.abc import Iterator

import pytest

from clearinghouse.addresses.parsing import split
from crawler.fetch.fetcher import Fetcher
from crawler.fetch.sign_in import sign_in_forms as reading
from crawler.fetch.sign_in.cookies import Jar
from crawler.fetch.sign_in.point_key import FORM, PointKey, SiteSignInForm
from crawler.values import Credentials, Fetched, Request
from tests.proves import proves
from tests.sites import forms
from tests.sites.forms import FormSite
from tests.sites.misbehaving import Site


@pytest.fixture
def site() -> Iterator[FormSite]:
    pages = {f"/m/{n}": f"<title>{n}</title><p>page {n}</p>".encode() for n in range(40)}
    with forms.serve(pages=pages) as site:
        yield site


@pytest.fixture
def fetcher() -> Iterator[Fetcher]:
    fetcher = Fetcher(64)
    yield fetcher
    fetcher.close()


class Paused(list[str]):
    """Hears the bell of a key."""

    def __call__(self, why: str) -> None:
        self.append(why)


def key_of(site: FormSite, text: str = forms.SIGNED_IN, paused: Paused | None = None, **changes: str) -> PointKey:
    form = SiteSignInForm(**{"url": site.url("/login"), "user_field": "user", "password_field": "pass",
                         "signed_in_text": text} | changes)  # fmt: skip
    return PointKey(
        FORM, forms.USER, forms.PASSWORD, point_id=1, form=form, pause=Paused() if paused is None else paused
    )


def get(fetcher: Fetcher, key: Credentials, *urls: str, cookies: str = "") -> list[Fetched]:
    """The answers in the order of the addresses."""
    for number, url in enumerate(urls):
        fetcher.start(Request(url, split(url), credentials=key, token=number, cookies=cookies))
    answers: list[Fetched] = []
    until = time.monotonic() + 30
    while fetcher.active() and time.monotonic() < until:
        answers += fetcher.wait(1)
    assert fetcher.active() == 0
    return sorted(answers, key=lambda answer: int(answer.request.token))


def pages(site: FormSite, count: int) -> list[str]:
    return [site.url(f"/m/{n}") for n in range(count)]


def test_pages_behind_a_form_are_fetched_after_one_sign_in(site: FormSite, fetcher: Fetcher) -> None:
    key = key_of(site)
    answers = get(fetcher, key, *pages(site, 40))
    assert [answer.body for answer in answers] == [site.pages[f"/m/{n}"] for n in range(40)]
    assert all(answer.request.credentials is key and answer.request.cookies == "" for answer in answers)
    assert (site.asked("GET", "/login"), site.asked("POST", "/login")) == (1, 1)
    post = next(asked for asked in site.seen if asked.method == "POST")
    assert (post.headers["origin"], post.headers["referer"]) == (site.address, site.url("/login"))
    assert get(fetcher, key, site.url("/m/0"))[0].status == 200
    assert site.asked("POST", "/login") == 1


def test_cookies_of_the_message_are_sent_beside_ours(site: FormSite, fetcher: Fetcher) -> None:
    get(fetcher, key_of(site), site.url("/m/0"), cookies="wall=1")
    assert "session=" in site.seen[-1].headers["cookie"] and "wall=1" in site.seen[-1].headers["cookie"]


@proves("G6")
@pytest.mark.parametrize("text", [forms.SIGNED_IN, ""])
@pytest.mark.parametrize("wall", ["redirect", "page"])
def test_a_session_that_ends_is_renewed(site: FormSite, fetcher: Fetcher, text: str, wall: str) -> None:
    paused = Paused()
    site.wall, site.pages_a_session = wall, 12
    key = key_of(site, text, paused)
    for url in pages(site, 40):
        assert get(fetcher, key, url)[0].body.startswith(b"<title>")
    assert (site.asked("POST", "/login"), paused) == (4, [])


def test_a_session_that_ends_under_many_requests_is_renewed_once(site: FormSite, fetcher: Fetcher) -> None:
    key = key_of(site)
    get(fetcher, key, *pages(site, 10))
    site.sessions.clear()
    answers = get(fetcher, key, *pages(site, 40))
    assert {answer.status for answer in answers} == {200} and not any(answer.reason for answer in answers)
    assert site.asked("POST", "/login") == 2


@proves("G4")
def test_a_wrong_password_is_sent_once_and_the_crawl_point_paused(site: FormSite, fetcher: Fetcher) -> None:
    paused = Paused()
    site.password = "changed"
    key = key_of(site, paused=paused)
    answers = get(fetcher, key, *pages(site, 20)) + get(fetcher, key, *pages(site, 20))
    assert {answer.reason for answer in answers} == {"auth_failed"}
    assert site.asked("POST", "/login") == 1 and not site.asked("GET", "/m/0")
    assert paused == ["the site did not accept the saved user ID and password"]
    assert answers[0].detail == "the crawl point is paused: " + paused[0]


@proves("G6")
@pytest.mark.parametrize("wall", ["redirect", "page"])
def test_a_site_that_lets_nobody_in_is_left_after_one_new_sign_in(site: FormSite, fetcher: Fetcher, wall: str) -> None:
    paused = Paused()
    site.wall, site.pages_a_session = wall, 0
    site.landing, site.open_pages = "/welcome", {"/welcome": b"<p>hello"}
    key = key_of(site, "", paused)
    answers = [get(fetcher, key, url)[0] for url in pages(site, 10)]
    assert [answer.reason for answer in answers] == ["login_page"] * 3 + ["auth_failed"] * 7
    assert paused == ["the site answered with its sign-in page for 3 pages in a row"]
    assert site.asked("POST", "/login") == 2
    assert not any(answer.body for answer in answers)


def test_a_page_that_merely_has_a_password_field_costs_one_sign_in_and_pauses_nothing(
    site: FormSite, fetcher: Fetcher
) -> None:
    paused = Paused()
    site.pages["/change"] = b"<form><input type=password name=new></form>"
    site.pages["/profile"] = site.pages["/change"] + forms.SIGNED_IN.encode()
    key = key_of(site, paused=paused)
    urls = [site.url(path) for path in ("/m/0", "/change", "/m/1", "/profile", "/change", "/m/2")]
    answers = [get(fetcher, key, url)[0] for url in urls]
    assert [answer.reason for answer in answers] == ["", "login_page", "", "", "login_page", ""]
    assert (site.asked("POST", "/login"), paused) == (2, [])


def test_the_sign_in_page_found_as_a_link_is_no_alarm(site: FormSite, fetcher: Fetcher) -> None:
    key = key_of(site)
    answers = [get(fetcher, key, site.url(path))[0] for path in ("/m/0", "/login", "/login?next=x", "/login", "/m/1")]
    assert [answer.reason for answer in answers] == ["", "login_page", "login_page", "login_page", ""]
    assert site.asked("POST", "/login") == 1


def test_a_link_that_signs_us_out_costs_one_more_sign_in(site: FormSite, fetcher: Fetcher) -> None:
    key = key_of(site)
    answers = [get(fetcher, key, site.url(path))[0] for path in ("/m/0", "/logout", "/m/1", "/m/2")]
    assert [answer.status for answer in answers] == [200] * 4
    assert site.asked("POST", "/login") == 2


def test_a_sign_in_page_that_is_down_is_asked_again_and_says_nothing_about_the_password(
    site: FormSite, fetcher: Fetcher
) -> None:
    paused = Paused()
    site.broken = 1
    key = key_of(site, paused=paused)
    answer = get(fetcher, key, site.url("/m/0"))[0]
    assert (answer.status, answer.reason) == (503, "")  # judged as any 503 is: tried again, later
    assert get(fetcher, key, site.url("/m/0"))[0].status == 200
    assert paused == []


def refusal(site: FormSite, fetcher: Fetcher, **changes: str) -> str:
    """Why the crawl point is paused; the password was not sent anywhere."""
    paused = Paused()
    answer = get(fetcher, key_of(site, paused=paused, **changes), site.url("/m/0"))[0]
    assert answer.reason == "auth_failed" and len(paused) == 1
    assert not any(asked.body for asked in site.seen)
    return paused[0]


@proves("rule 10")
def test_the_password_stays_on_the_site_of_the_form(site: FormSite, fetcher: Fetcher) -> None:
    with Site() as other:
        for action in (other.url("/login"), "https" + site.url("/login").removeprefix("http"), "javascript:x()"):
            site.action = action
            key = {"signed_in_text": action}  # a key the fetcher has not met
            assert refusal(site, fetcher, **key) == "the form would send the password to another site"
        assert not other.connections


def test_the_password_never_stands_in_an_address(site: FormSite, fetcher: Fetcher) -> None:
    site.method = "get"
    assert refusal(site, fetcher) == "the form would show the password in an address"


def test_a_page_without_the_form_is_named(site: FormSite, fetcher: Fetcher) -> None:
    assert refusal(site, fetcher, user_field="name") == "the sign-in page has no form with these fields"


def test_a_sign_in_that_leads_elsewhere_is_not_followed(site: FormSite, fetcher: Fetcher) -> None:
    with Site() as other:
        for status in (303, 307):
            site.landing, site.answer_of_form = other.url("/"), status
            answer = get(Fetcher(2), key_of(site), site.url("/m/0"))[0]
            assert answer.detail.endswith("the sign-in leads to another site")
        assert not other.connections


def test_a_base_element_counts(site: FormSite) -> None:
    page = fetched(site, b"<base href='http://evil.example/'><form method=post action=login><input name=user>"
                   b"<input name=pass type=password></form>")  # fmt: skip
    assert reading.fill_in(page, key_of(site)) == "the form would send the password to another site"


@pytest.mark.parametrize(
    ("body", "text", "shown"),
    [
        ("<p>Welcome\n  <b>back</b>", "Welcome back", True),
        ("<p>Welcome&nbsp;b&auml;ck", "Welcome bäck", True),
        ("<p>Tom &amp; Co", "Tom & Co", True),
        ("<p>Welcome", "Welcome back", False),
        ("<p>welcome back", "Welcome back", False),
        ("<p>hello", "", True),
        ("<p>hello<input type=text name=q>", "", True),
        ("<p>hello<input name=p type = 'password'>", "", False),
        ("<p>hello<INPUT\nTYPE=PASSWORD>", "", False),
        ("<p>Welcome back<input type=password>", "Welcome back", True),
    ],
)
def test_when_somebody_is_signed_in(site: FormSite, body: str, text: str, shown: bool) -> None:
    form = key_of(site, text).form
    assert form is not None
    page = fetched(site, body.encode("iso-8859-1"))
    assert reading.signed_in(page, form) is shown
    page.status = 403
    assert not reading.signed_in(page, form)


def test_the_charset_of_the_page_is_the_charset_of_the_answer(site: FormSite) -> None:
    form = b"<meta charset=iso-8859-1><form method=post><input name=user><input name=pass type=password></form>"
    filled = reading.fill_in(fetched(site, form), key_of(site))
    assert isinstance(filled, reading.FoundForm)
    assert filled.data == b"user=reader&pass=Geh%E9im+C4n4ry%26%3D%2B"
    assert "C4n4ry" not in repr(filled) and "C4n4ry" not in repr(key_of(site))


def fetched(site: FormSite, body: bytes) -> Fetched:
    url = site.url("/login")
    return Fetched(Request(url, split(url)), 200, [("content-type", "text/html")], body)


# -- cookies ----------------------------------------------------------------------------------------------------


def jar_of(*cookies: str, url: str = "https://a.b.org/m/x") -> Jar:
    jar = Jar(split(url).host)
    jar.take([("set-cookie", cookie) for cookie in cookies], split(url))
    return jar


@pytest.mark.parametrize(
    ("cookie", "sent"),
    [
        ("a=b", True),
        ("a=b; Path=/", True),
        ("a=b; Path=/other", False),
        ("a=b; Path=/m", True),
        ("a=b; Path=/mm", False),
        ("a=b; Domain=b.org", True),
        ("a=b; Domain=.A.b.org", True),
        ("a=b; Domain=x.b.org", False),
        ("a=b; Domain=evil.org", False),
        ("a=b; Domain=xa.b.org", False),
        ("a=b; Max-Age=0", False),
        ("a=b; Max-Age=60", True),
        ("a=b; Expires=Thu, 01 Jan 1970 00:00:00 GMT", False),
        ("a=b; Expires=nonsense", True),
        ("a=b\x01", False),
        ("a", False),
        ("=b", False),
        ("a=" + "b" * 5000, False),
    ],
)
def test_which_cookies_are_kept(cookie: str, sent: bool) -> None:
    assert (jar_of(cookie).header(split("https://a.b.org/m/y")) != "") is sent


def test_cookies_stay_on_their_host_and_secure_ones_on_https() -> None:
    jar = jar_of("a=b; Path=/", "c=d; Path=/; Secure")
    assert jar.header(split("https://a.b.org/")) == "a=b; c=d"
    assert jar.header(split("http://a.b.org/")) == "a=b"
    assert jar.header(split("https://b.org/")) == jar.header(split("https://x.a.b.org/")) == ""
    assert jar_of("a=b; Secure", url="http://a.b.org/").header(split("https://a.b.org/")) == ""
    assert jar_of("a=1; Path=/", "a=2; Path=/m", "a=3; Path=/").header(split("https://a.b.org/m/")) == "a=2; a=3"


def test_a_jar_has_room_for_fifty() -> None:
    jar = jar_of(*(f"a{n}=b; Path=/" for n in range(80)))
    header = jar.header(split("https://a.b.org/"))
    assert header.count("=") == 50 and "a79=" in header and "a29=" not in header
