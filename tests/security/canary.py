"""A password that is recognised in whatever dress: plain, quoted, escaped, in base64 or hexadecimal digits."""

import base64

CANARY = "C4n4ry&Zq7<Xw9kTp2"  # the signs in it make quoting and escaping show
_CORE = b"Zq7<Xw9kTp2"


def _in_base64(word: bytes) -> set[bytes]:
    """What stays the same of a word in base64, wherever in a longer text it stands."""
    found = set()
    for before in range(3):
        text = base64.b64encode(b"\0" * before + word)
        found.add(text[4 if before else 0 : -4])
    return {part for part in found if len(part) >= 10} | {part.translate(_FOR_URLS) for part in found}


_FOR_URLS = bytes.maketrans(b"+/", b"-_")
DRESSES = {
    "plain": {b"Zq7<Xw9kTp2", b"Xw9kTp2"},  # the second part stays as it is in HTML, JSON, addresses and CSV
    "in UTF-16": {"Xw9kTp2".encode("utf-16-le")},
    "base64": _in_base64(CANARY.encode()) | _in_base64(b"Xw9kTp2"),
    "hexadecimal": {_CORE.hex().encode(), _CORE.hex().upper().encode()},
    "backwards": {_CORE[::-1]},
}


def found_in(data: bytes | str) -> list[str]:
    """The dresses in which the password stands in the data."""
    known = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return [dress for dress, words in DRESSES.items() if any(word in known for word in words)]
