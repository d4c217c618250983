"""The values of this room."""

from dataclasses import dataclass

MAX_LENGTH = 2048


@dataclass(frozen=True, slots=True)
class Address:
    """One web address, parsed once: scope, exclusion, the network check and the request all use this one result."""

    href: str  # canonical, without fragment and user info
    scheme: str
    host: str  # as the request uses it: lower case, punycode, [v6]
    port: int
    path: str
    query: str  # without "?"; None-like empty and "?" alone are kept apart in href

    @property
    def origin(self) -> str:
        default = {"http": 80, "https": 443}.get(self.scheme)
        return f"{self.scheme}://{self.host}" + ("" if self.port == default else f":{self.port}")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an address or a link is not crawled: a reason code and what fills its sentence."""

    reason: str
    detail: str = ""
