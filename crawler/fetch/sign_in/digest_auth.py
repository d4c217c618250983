"""Digest authentication (RFC 7616, and RFC 2069 where a server knows no better), pure.

Ours and not a library's, because a password is at stake: the realm that once let us in is the only one that gets an
answer, a weaker scheme never does, and one page costs at most two requests.
"""

import hashlib
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass

from crawler.values import Credentials, Fetched, Request

KIND = 2  # the number of crawl_auth_type_id
_STRENGTHS = {"MD5": 1, "SHA-256": 2, "SHA-512-256": 3}
_HASHES = {"MD5": "md5", "SHA-256": "sha256", "SHA-512-256": "sha512_256"}
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r'\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))')
_TOKEN68 = re.compile(r"\s+[A-Za-z0-9\-._~+/]+=*\s*(?=,|$)")  # what other schemes put in the place of parameters
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_SPACE = re.compile(r"[\s,]*")
_UNUSABLE = re.compile(r"[\x00-\x1f\x7f]")
_PARAMETER_AT_MOST = 4_096


@dataclass(frozen=True, slots=True)
class Challenge:
    """What a server asks for. Its values are what they mean, without the quotes and backslashes of the header."""

    realm: str
    nonce: str
    opaque: str | None
    algorithm: str  # as named: empty means MD5
    qop: str  # auth, auth-int, or empty: the form of RFC 2069
    user_hash: bool

    @property
    def strength(self) -> int:
        return _STRENGTHS[_plain(self.algorithm)]


class Lesson:
    """What one site taught about its Digest: sent along at once with the next request, counted, never downgraded."""

    def __init__(self) -> None:
        self._challenge: Challenge | None = None
        self._count = 0
        self._realm: str | None = None  # of the first success

    def header(self, credentials: Credentials, target: str) -> str:
        """The Authorization header for the next GET; empty while nothing was learned."""
        if self._challenge is None:
            return ""
        self._count += 1
        return authorization(self._challenge, credentials, target, self._count)

    def learn(self, values: list[str]) -> bool:
        """Read the WWW-Authenticate headers of a 401, be it stale or the first; may it be answered?"""
        usable = [c for c in digests(values) if self._realm in (None, c.realm)]
        if not usable:
            self._challenge = None
            return False
        self._challenge, self._count = max(usable, key=lambda challenge: challenge.strength), 0
        return True

    def succeeded(self, info: str) -> None:
        """The password was taken: the realm is fixed from here on. `info` is the Authentication-Info header."""
        if self._challenge is None:
            return
        self._realm = self._challenge.realm
        following = dict(_parameters(info)).get("nextnonce")
        if following and _usable(following):
            parts = {name: getattr(self._challenge, name) for name in Challenge.__slots__}
            self._challenge, self._count = Challenge(**{**parts, "nonce": following}), 0


class Lessons:
    """What each site taught, for each password: one never learns from the other."""

    def __init__(self) -> None:
        self._lessons: dict[tuple[str, Credentials], Lesson] = {}

    def header(self, request: Request) -> str:
        """The Authorization header for this request; empty where it needs none, or where none is known yet."""
        if request.credentials is None or request.credentials.kind != KIND:
            return ""
        return self._lesson(request, request.credentials).header(request.credentials, target_of(request.url))

    def answer(self, answer: Fetched) -> str:
        """The header with which a refused request may be sent once more; empty when it may not."""
        request = answer.request
        if request.credentials is None or answer.reason:
            return ""
        asked = [value for name, value in answer.headers if name == "www-authenticate"]
        return self.header(request) if self._lesson(request, request.credentials).learn(asked) else ""

    def succeeded(self, answer: Fetched) -> None:
        """An answer to a request that carried a header of ours."""
        request = answer.request
        if request.credentials is not None and not answer.reason and answer.status < 400:
            self._lesson(request, request.credentials).succeeded(answer.header("authentication-info"))

    def _lesson(self, request: Request, credentials: Credentials) -> Lesson:
        return self._lessons.setdefault((request.address.origin, credentials), Lesson())


def target_of(url: str) -> str:
    """What stands in the request line: the address without scheme and host."""
    return "/" + url.split("/", 3)[3]


def digests(values: list[str]) -> Iterator[Challenge]:
    """The Digest challenges we can answer, in the order of the server."""
    for value in values:
        for scheme, parameters in _schemes(value):
            challenge = _challenge(parameters) if scheme == "digest" else None
            if challenge is not None:
                yield challenge


def authorization(challenge: Challenge, credentials: Credentials, target: str, count: int, cnonce: str = "") -> str:
    """The header that answers a challenge, for a GET of this target."""
    cnonce = cnonce or secrets.token_urlsafe(24)
    counted = f"{count:08x}"
    user = credentials.login
    fields = [
        f'username="{_hash(challenge, user, challenge.realm) if challenge.user_hash else _quoted(user)}"',
        f'realm="{_quoted(challenge.realm)}"', f'nonce="{_quoted(challenge.nonce)}"', f'uri="{_quoted(target)}"',
        f'response="{response(challenge, credentials, target, counted, cnonce)}"',
    ]  # fmt: skip
    if challenge.algorithm:
        fields.append(f"algorithm={challenge.algorithm}")
    if challenge.opaque is not None:
        fields.append(f'opaque="{_quoted(challenge.opaque)}"')
    if challenge.qop:
        fields.append(f"qop={challenge.qop}, nc={counted}")
    if challenge.qop or _is_session(challenge.algorithm):
        fields.append(f'cnonce="{cnonce}"')
    if challenge.user_hash:
        fields.append("userhash=true")
    return "Digest " + ", ".join(fields)


def response(challenge: Challenge, credentials: Credentials, target: str, counted: str, cnonce: str) -> str:
    """The proof that the password is known, of a GET without a body."""
    first = _hash(challenge, credentials.login, challenge.realm, credentials.password)
    if _is_session(challenge.algorithm):
        first = _hash(challenge, first, challenge.nonce, cnonce)
    second = ["GET", target, *([_hash(challenge, "")] if challenge.qop == "auth-int" else [])]
    middle = [counted, cnonce, challenge.qop] if challenge.qop else []
    return _hash(challenge, first, challenge.nonce, *middle, _hash(challenge, *second))


def _challenge(parameters: list[tuple[str, str]]) -> Challenge | None:
    values = dict(parameters)
    if len(values) != len(parameters):
        return None  # named twice: nobody can say which one counts
    algorithm = values.get("algorithm", "")
    offered = values.get("qop", "").lower().replace(",", " ").split()
    qop = next((word for word in ("auth", "auth-int") if word in offered), "")
    if _plain(algorithm) not in _STRENGTHS or (offered and not qop):
        return None
    if "realm" not in values or not values.get("nonce") or not all(map(_usable, values.values())):
        return None
    user_hash = values.get("userhash", "").lower() == "true"
    return Challenge(values["realm"], values["nonce"], values.get("opaque"), algorithm, qop, user_hash)


def _schemes(value: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Several challenges may stand in one header, divided by the same comma as their parameters."""
    scheme, parameters = "", list[tuple[str, str]]()
    for name, text in _parameters(value):
        if text is None:
            if scheme:
                yield scheme, parameters
            scheme, parameters = name, []
        else:
            parameters.append((name, text))
    if scheme:
        yield scheme, parameters


def _parameters(value: str) -> Iterator[tuple[str, str | None]]:
    """name=value pairs; a name alone, which is a scheme, comes with None."""
    place = 0
    while (name := _TOKEN.match(value, _skip(value, place))) is not None:
        found = _VALUE.match(value, name.end())
        if found is None:
            token = _TOKEN68.match(value, name.end())
            place = token.end() if token else name.end()
            yield name[0].lower(), None
        else:
            place = found.end()
            yield name[0].lower(), found[2] if found[1] is None else _ESCAPED.sub(r"\1", found[1])


def _skip(value: str, place: int) -> int:
    space = _SPACE.match(value, place)
    return space.end() if space else place


def _hash(challenge: Challenge, *parts: str) -> str:
    name = _HASHES[_plain(challenge.algorithm)]
    return hashlib.new(name, ":".join(parts).encode(), usedforsecurity=False).hexdigest()


def _plain(algorithm: str) -> str:
    name = algorithm.upper() or "MD5"
    return name.removesuffix("-SESS")


def _is_session(algorithm: str) -> bool:
    return algorithm.upper().endswith("-SESS")


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _usable(text: str) -> bool:
    return len(text) <= _PARAMETER_AT_MOST and not _UNUSABLE.search(text)
