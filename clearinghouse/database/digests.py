"""Owns: SHA-256 keys of addresses and contents. Called by: everybody who compares addresses or contents.

Long text and case-insensitive collations make URL columns unfit as keys; a digest is exact everywhere.
"""

import hashlib

SIZE = 32


def digest_of(value: str | bytes) -> bytes:
    return hashlib.sha256(value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value).digest()
