"""Owns: the frozen values that cross walls inside the crawler, and the closed list of reasons.

Does not: touch a database, a network or a clock. Called by: everybody in crawler.
"""

from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from typing import Any, NamedTuple

from clearinghouse.addresses import Address

# Outcomes, as stored in the ledger.
QUEUED, CRAWLED, UNCHANGED, REDIRECTED, SKIPPED, FAILED = (
    "queued", "crawled", "unchanged", "redirected", "skipped", "failed",
)  # fmt: skip
OUTCOMES = (QUEUED, CRAWLED, UNCHANGED, REDIRECTED, SKIPPED, FAILED)


class Reason(NamedTuple):
    code: str
    outcome: str
    label: str  # two or three words, for chips and columns
    sentence: str  # "Not crawled, because it …"
    advice: str = ""  # what to do about it; like the status filled in by reasons.reason_of
    status: int = 0

    @property
    def because(self) -> str:
        """With its subject."""
        own = self.sentence.startswith(("the ", "its ", "robots", "no "))
        return self.sentence if own else f"it {self.sentence}"


_REASONS = [
    ("bad_address", SKIPPED, "not an address", "is not an address the crawler can read"),
    ("too_long", SKIPPED, "too long", "is longer than 2,048 characters"),
    ("scheme_not_allowed", SKIPPED, "not http", "is not http or https"),
    ("port_not_allowed", SKIPPED, "port not allowed", "uses a port that is not allowed"),
    ("trap_suspected", SKIPPED, "trap suspected", "looks like an endless address"),
    ("outside_root", SKIPPED, "outside the root string", "does not begin with the root string"),
    ("excluded", SKIPPED, "excluded", "matches an exclude URL"),
    ("nofollow", SKIPPED, "nofollow", "is linked only with nofollow"),
    ("too_deep", SKIPPED, "too deep", "is deeper than the depth limit"),
    ("point_deactivated", SKIPPED, "deactivated", "the crawl point was deactivated meanwhile"),
    ("run_limit", SKIPPED, "run limit", "the run's time or byte limit was reached"),
    ("address_refused", SKIPPED, "network not allowed", "is on a network that is not allowed"),
    ("robots_disallowed", SKIPPED, "robots.txt", "is forbidden by robots.txt"),
    ("page_limit", SKIPPED, "page limit", "came after the maximum pages was reached"),
    ("type_not_allowed", SKIPPED, "type not stored", "is of a type that is not stored"),
    ("too_large", SKIPPED, "too large", "is larger than the limit"),
    ("redirect_outside_root", SKIPPED, "redirect outside root", "redirects outside the root string"),
    ("redirect_excluded", SKIPPED, "redirect excluded", "redirects to an excluded address"),
    ("run_stopped", SKIPPED, "run stopped", "the run was stopped"),
    ("run_cancelled", SKIPPED, "run cancelled", "the run was cancelled"),
    ("redirect_loop", FAILED, "redirect loop", "redirects in a circle"),
    ("too_many_redirects", FAILED, "too many redirects", "redirects more than 10 times"),
    ("http_4xx", FAILED, "not found or refused", "the site did not give the page"),
    ("http_5xx", FAILED, "fault of the site", "the site met a fault of its own"),
    ("auth_required", FAILED, "asks for a password", "asks for a password"),
    ("auth_failed", FAILED, "password refused", "refused the saved user ID and password"),
    ("login_page", FAILED, "sign-in page", "answered with a sign-in page"),
    ("dns_failed", FAILED, "unknown host", "the host name is unknown"),
    ("connect_failed", FAILED, "no connection", "no connection could be made"),
    ("tls_failed", FAILED, "encryption failed", "the certificate or encryption is bad"),
    ("timeout", FAILED, "timeout", "took longer than allowed"),
    ("too_slow", FAILED, "too slow", "was slower than allowed"),
    ("cut_short", FAILED, "cut short", "ended before its declared length"),
    ("bad_response", FAILED, "unusable answer", "gave an answer that the crawler cannot use"),
    ("decode_failed", FAILED, "broken compression", "its compression is broken"),
    ("robots_unavailable", FAILED, "robots.txt unreadable", "robots.txt of the site could not be read"),
    ("parse_timeout", FAILED, "took too long to read", "took too long to read"),
    ("quarantined", FAILED, "stopped the crawler", "stopped the crawler three times"),
    ("error", FAILED, "our fault", "met a fault of ours"),
]
REASONS = {row[0]: Reason(*row) for row in _REASONS}
ANSWERED_NOTHING = "the server answered nothing"  # the detail of a bad_response that may be better the next time
# What a run that ended early left in its queues.
LEFT_BEHIND = ("run_stopped", "run_cancelled", "run_limit")
# Verdicts that take no place under a maximum (design rule 2).
FREE = {
    "bad_address", "too_long", "robots_disallowed", "robots_unavailable", "address_refused", "page_limit",
    "point_deactivated", "excluded", "run_stopped", "run_cancelled",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PointSettings:
    """A crawl point as a run sees it. The password is never here: it is read by id when it is needed."""

    id: int
    url: str
    root: str
    depth: int = 0
    max_pages: int = 0
    auth_type: int = 0
    login: str = ""
    append: str = ""
    active: bool = True
    sign_in_url: str = ""
    sign_in_user_field: str = ""
    sign_in_password_field: str = ""
    signed_in_text: str = ""
    accept_bad_certificate: bool = False
    merge_schemes: bool = False
    ignore_query: bool = False
    drop_sessions: bool = True
    obey_nofollow: bool = False
    stop_traps: bool = True
    ignore_robots: bool = False


OWN_MAXIMUM = "own_max_pages"  # beside a point of a stored snapshot: what it says itself, where the run allows less


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The settings of one document as a run uses them."""

    doc_id: int
    points: tuple[PointSettings, ...] = ()
    excludes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Snapshot":
        known = {item.name for item in fields(PointSettings)}
        points = tuple(PointSettings(**{k: v for k, v in row.items() if k in known}) for row in data["points"])
        return cls(doc_id=data["doc_id"], points=points, excludes=tuple(data["excludes"]))


@dataclass(frozen=True, slots=True)
class Credentials:
    """What opens a site. Lives in memory only, never in a log, a job or a repr."""

    kind: int  # the numbers of crawl_auth_type_id
    login: str = field(repr=False)
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Request:
    """One GET. `url` is what goes over the wire (append text included)."""

    url: str
    address: Address
    etag: str = ""
    last_modified: str = ""
    credentials: Credentials | None = None
    accept_bad_certificate: bool = False
    identity_encoding: bool = False  # the second try after decode_failed
    is_robots: bool = False  # for a robots.txt, which a redirect may have led to another path
    cookies: str = ""
    token: Any = None  # the caller's own mark, handed back with the answer
    mark: bytes = b""  # what is noted while the answer is unpacked
    record: bool = False  # whether the answer is to bring its exchanges; nothing is held for them without it


@dataclass(frozen=True, slots=True)
class Exchange:
    """What went over the wire for an answer, once for each request it took (a challenge, a second try)."""

    request_head: bytes
    response_head: bytes
    entity: bytes  # as it came: Content-Encoding kept, transfer framing undone
    began: datetime  # UTC, with microseconds
    protocol: str
    remote: str
    truncated: str = ""  # why the entity is not whole


@dataclass(slots=True)
class Fetched:
    """An answer, or why there is none. `reason` is empty when an answer with a status came whole."""

    request: Request
    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)  # names in lower case, in order
    body: bytes = b""
    reason: str = ""
    detail: str = ""
    truncated: bool = False  # the body was cut at the size limit; it is the beginning
    milliseconds: int = 0
    received: int = 0  # bytes over the wire, for the run's byte limit
    remote: str = ""  # the address actually connected to
    exchanges: tuple[Exchange, ...] = ()

    def header(self, name: str) -> str:
        for key, value in self.headers:
            if key == name:
                return value
        return ""


class Link(NamedTuple):
    """A link as found: canonical absolute URL (or the raw text when it cannot be read), anchor text, nofollow."""

    url: str
    anchor: str = ""
    nofollow: bool = False


@dataclass(slots=True)
class Extracted:
    """What reading a page's bytes gave."""

    type_id: int
    extension: str
    title: str = ""
    metas: list[tuple[str, str]] = field(default_factory=list)
    headings: str = ""
    text: str = ""
    links: list[Link] = field(default_factory=list)
    language: str = ""
    canonical: str = ""
    charset: str = ""
    nofollow: bool = False  # page level: robots meta or X-Robots-Tag
    noindex: bool = False
    flags: list[str] = field(default_factory=list)  # links_cut, text_cut, metas_cut, deep, no_text …


NO_NAME_SERVER = "no answer from the name server"  # the detail of dns_failed that may pass
USER_AGENT = "ClearinghouseWebCrawl"
