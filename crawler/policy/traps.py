"""Traps: addresses that look endless. Pure functions of one address, shared by crawler, explainer and oracle.

Rules that would need counts (calendars, equal bodies) are not here: they only raise findings and stop nothing.
"""

from collections import Counter

from clearinghouse.addresses import Address

MAX_SEGMENTS = 16
MAX_REPEATS = 2  # a name that stands in the path a third time is a circle
MAX_PARAMETERS = 10


def suspicion(address: Address) -> str:
    """The rule an address breaks, in words; empty when it breaks none."""
    if address.path.count("/") > 2:  # fewer names can break no rule about names
        segments = address.path.rstrip("/").split("/")[1:]
        if len(segments) > MAX_SEGMENTS:
            return f"more than {MAX_SEGMENTS} path segments"
        repeated = _repeated(segments)
        if repeated:
            return f"the segment {repeated} stands {MAX_REPEATS + 1} times in the path"
    if address.query.count("&") >= MAX_PARAMETERS and _parameters(address.query) > MAX_PARAMETERS:
        return f"more than {MAX_PARAMETERS} parameters"
    return ""


def _repeated(segments: list[str]) -> str:
    counts = Counter(segment for segment in segments if segment)
    return next((segment for segment, count in counts.items() if count > MAX_REPEATS), "")


def _parameters(query: str) -> int:
    return sum(1 for parameter in query.split("&") if parameter)
