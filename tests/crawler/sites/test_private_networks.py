"""What leads to a machine that is not public is never connected to, by whichever door it comes in."""

from collections.abc import Callable, Iterator

import pytest

from clearinghouse.addresses import Address, networks
from clearinghouse.addresses.parsing import parse, resolve
from crawler.fetch import curl, requests_fetcher
from crawler.ledger.ledger_check import faults
from crawler.models import LedgerEntry, Run
from crawler.values import Credentials, Request
from tests import vectors
from tests.crawler.conftest import crawl, make_document
from tests.hostile.fetching import fetch_all
from tests.proves import proves
from tests.sites.canary import Canary
from tests.sites.misbehaving import Site, page, redirect

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]
REFUSED = {"address_refused", "dns_failed"}  # the second for names, where nobody answers for them


@pytest.fixture
def canary() -> Iterator[Canary]:
    canary = Canary()
    yield canary
    canary.close()


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site on this machine, and the environment that opens its door and no other."""
    with Site() as site:
        monkeypatch.setenv("CLEARINGHOUSE_ALLOWED_NETWORKS", f"127.0.0.1:{site.port}")
        networks.forget_settings()
        yield site
    monkeypatch.undo()
    networks.forget_settings()


def hosts() -> list[str]:
    """Spellings of this machine."""
    return [
        "127.0.0.1", "127.1", "2130706433", "0x7f.1", "017700000001", "0", "0.0.0.0", "127.0.0.2", "localhost",
        "LOCALHOST.", "[::1]", "[::]", "[::ffff:7f00:1]", "①②⑦.0.0.1", "127。0。0。1", "x@127.0.0.1", "a.org%00@127.1",
    ]  # fmt: skip


@proves("rule 14", "goal 21")
def test_no_transport_connects_to_any_of_the_addresses(site: Site) -> None:
    table = vectors.table("ssrf", "vectors.json")
    texts = [f"[{row['ip']}]" if ":" in row["ip"] else row["ip"] for row in table["ips_must_block"]]
    urls = [f"http://{text}/" for text in texts] + [resolve("http://a.example/", row["url"]) for row in table["urls"]]
    addresses = [found for found in map(parse, urls) if isinstance(found, Address)]
    assert len(addresses) >= 45 + 25
    for key, fetcher in (
        (None, curl.CurlTransport()),
        (Credentials(3, "u", "p"), requests_fetcher.RequestsTransport()),
    ):
        requests = [Request(address.href, address, credentials=key) for address in addresses]
        answers = fetch_all(fetcher, requests)
        assert len(answers) == len(addresses)
        assert {answer.reason for answer in answers} <= REFUSED, [a for a in answers if a.reason not in REFUSED]
        for answer in answers:
            if answer.request.address.host.strip("[]").replace(".", "").isdigit():
                assert answer.reason == "address_refused"


@proves("rule 14", "goal 21")
def test_no_transport_connects_to_any_spelling_of_this_machine(site: Site, canary: Canary) -> None:
    for key, fetcher in (
        (None, curl.CurlTransport()),
        (Credentials(3, "u", "p"), requests_fetcher.RequestsTransport()),
    ):
        addresses = [parse(f"http://{host}:{canary.port}/") for host in hosts()]
        requests = [Request(a.href, a, credentials=key) for a in addresses if isinstance(a, Address)]
        assert len(requests) == len(hosts())
        assert {answer.reason for answer in fetch_all(fetcher, requests)} <= REFUSED
    assert canary.visits == 0


DOORS = {
    "a link": lambda to: page(f"<a href='{to}'>x</a>"),
    "a frame": lambda to: page(f"<iframe src='{to}'></iframe>"),
    "a base": lambda to: page(f"<base href='{to}'><a href=x>x</a>"),
    "a refresh": lambda to: page(f"<meta http-equiv=refresh content='0; url={to}'>"),
    "the canonical page": lambda to: page(f"<link rel=canonical href='{to}'>"),
    "a redirect": redirect,
    "a sitemap": lambda to: page(f"<urlset><url><loc>{to}</loc></url></urlset>", kind="text/xml"),
    "a feed": lambda to: page(f"<feed><entry><link href='{to}'/></entry></feed>", kind="application/atom+xml"),
}


@proves("rule 14", "E11", "goal 21")
def test_no_door_of_a_crawl_leads_there(site: Site, canary: Canary) -> None:
    """Every door in every spelling. A start URL is stopped at the socket, the others by the root string before."""
    there = [f"http://{host}:{canary.port}/" for host in hosts() if "@" not in host]
    for number, (_, door) in enumerate(DOORS.items()):
        for index, url in enumerate(there):
            site.pages[f"/{number}-{index}"] = door(f"{url}{number}/")
    site.pages["/"] = page("".join(f"<a href='{path}'>x</a>" for path in [*site.pages]))
    run = crawl(make_document({"url": site.url("/")}, *({"url": url} for url in there)))
    found = set(LedgerEntry.objects.filter(excursion__run=run).exclude(url__startswith=site.url("")))
    assert {row.reason for row in found} == {"address_refused", "outside_root"}
    assert {row.reason for row in found if row.url in _starts(run)} == {"address_refused"}
    assert len(found) >= 8 * (len(DOORS) - 1)  # where a redirect leads has no row of its own
    assert (canary.visits, faults(run)) == (0, [])


def _starts(run: Run) -> set[str]:
    rows = LedgerEntry.objects.filter(excursion__run=run, depth=0)
    return {row.url for row in rows}


@proves("D30")
def test_robots_txt_is_not_fetched_from_there_either(site: Site, canary: Canary, ledger: Ledger) -> None:
    site.pages["/robots.txt"] = redirect(f"http://127.0.0.1:{canary.port}/robots.txt")
    run = crawl(make_document({"url": site.url("/")}))
    assert set(ledger(run).values()) <= {"address_refused", "robots_unavailable"}
    assert canary.visits == 0


@pytest.mark.parametrize("port", [22, 6379])
def test_a_redirect_of_robots_txt_opens_no_port_that_is_closed(
    site: Site, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is followed to other hosts, unseen by the rules for links: the socket has the last word."""
    monkeypatch.setenv("CLEARINGHOUSE_ALLOWED_PORTS", "80,443,8000-8999")
    networks.forget_settings()
    assert networks.address_allowed("93.184.216.34", port)
    assert not networks.connection_allowed("93.184.216.34", port)
    address = parse(f"http://93.184.216.34:{port}/")
    assert isinstance(address, Address)
    for key, fetcher in (
        (None, curl.CurlTransport()),
        (Credentials(3, "u", "p"), requests_fetcher.RequestsTransport()),
    ):
        assert fetch_all(fetcher, [Request(address.href, address, credentials=key)])[0].reason == "address_refused"
