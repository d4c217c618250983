"""A server side of Digest authentication, written apart from the client: it computes every response for itself."""

import hashlib
import re
from dataclasses import dataclass, field

from tests.sites.misbehaving import Answer, Asked, page

HASHES = {"": "md5", "MD5": "md5", "SHA-256": "sha256", "SHA-512-256": "sha512_256"}


@dataclass
class DigestDoor:
    """A page behind Digest. What stands in `realm` is what it means: on the way it is quoted."""

    user: str = "Mufasa"
    password: str = "Circle of Life"
    realm: str = "a, b"
    opaque: str = "FQhe/qaU925"
    algorithm: str = "MD5"
    qop: str = "auth"
    extra: str = ""
    lifetime: int = 1_000_000  # answers for which a nonce is good
    next_nonces: bool = False
    refusals: int = 0
    sent: list[dict[str, str]] = field(default_factory=list)
    _nonces: dict[str, list[int]] = field(default_factory=dict)

    def __call__(self, asked: Asked) -> Answer:
        given = asked.headers.get("authorization", "")
        sent = fields(given)
        if not sent:
            return self._refuse("")
        self.sent.append(sent)
        counts = self._nonces.get(sent["nonce"])
        count = int(sent.get("nc", "0"), 16)
        if counts is None or len(counts) >= self.lifetime or (self.qop and count in counts):
            return self._refuse(", stale=true")
        if not given.startswith("Digest ") or sent["response"] != self._expected(asked, sent):
            return self._refuse("")
        counts.append(count)
        told = [f'Authentication-Info: nextnonce="{self._nonce()}"'] if self.next_nonces else []
        return page("let in", *told)(asked)

    def _refuse(self, more: str) -> Answer:
        self.refusals += 1
        challenge = f"WWW-Authenticate: Digest realm={quoted(self.realm)}, nonce={quoted(self._nonce())}"
        challenge += f", opaque={quoted(self.opaque)}"
        challenge += f', qop="{self.qop}"' if self.qop else ""
        challenge += f", algorithm={self.algorithm}" if self.algorithm else ""
        refusal = page("x" * 100_000, challenge + self.extra + more, status="401 Unauthorized")
        return refusal(Asked("GET", "/", {}, 0.0))

    def _nonce(self) -> str:
        nonce = f"n/{len(self._nonces)}+=="
        self._nonces[nonce] = []
        return nonce

    def _expected(self, asked: Asked, sent: dict[str, str]) -> str:
        if sent["uri"] != asked.target or sent["realm"] != self.realm or sent.get("opaque") != self.opaque:
            return "never"
        name = HASHES[self.algorithm.removesuffix("-sess")]

        def digest(*parts: str) -> str:
            return hashlib.new(name, ":".join(parts).encode()).hexdigest()

        first = digest(self.user, self.realm, self.password)
        if self.algorithm.endswith("-sess"):
            first = digest(first, sent["nonce"], sent["cnonce"])
        second = digest("GET", sent["uri"], *([digest("")] if sent.get("qop") == "auth-int" else []))
        if "qop" not in sent:
            return digest(first, sent["nonce"], second)
        return digest(first, sent["nonce"], sent["nc"], sent["cnonce"], sent["qop"], second)


def fields(header: str) -> dict[str, str]:
    """The parameters of an Authorization header; quoted ones as they are meant."""
    text = header.encode("latin-1").decode()
    found = re.findall(r'([\w*]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))', text)
    return {name: re.sub(r"\\(.)", r"\1", quoted) or bare for name, quoted, bare in found}


def quoted(text: str) -> str:
    """A quoted-string: a backslash before what would end it."""
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'
