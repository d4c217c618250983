"""Owns: sealing and unsealing passwords of crawled sites. Does not: store them, know crawl points.

Called by: crawlpoints (seals on save), the crawler (unseals just before use), adoption (seals plain ones).

A sealed password is text: "sealed:" and the URL-safe base64 of version byte, key id, nonce, AES-GCM ciphertext.
What it is bound to (Binding) is authenticated but not stored: after an edit of the row it cannot be unsealed.
"""

import base64
import binascii
import json
import re
import secrets
from dataclasses import astuple, dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.views.decorators.debug import sensitive_variables

from ..addresses.address import Address
from ..addresses.parsing import parse
from ..web.plurals import plural

MAX_TEXT = 512  # the column crawl_pw_str
MAX_PLAIN_BYTES = 320
_PREFIX = "sealed:"
_IN_FILE = "file:"
_VERSION = 1
_NONCE_BYTES = 12
_KEY_BYTES = 32
_KEY_ID = re.compile(r"[A-Za-z0-9_-]{1,16}")


class CannotUnseal(Exception):
    """The text is damaged, its key is gone, or its row was edited; the message says which and never more."""


@dataclass(frozen=True, slots=True)
class Binding:
    """Where a password may be used; a change of any part makes it useless."""

    origin: str
    root: str
    auth_type: int
    sign_in_url: str = ""


def binding_of(url: str, root: str, auth_type: int | None, sign_in_url: str | None = "") -> Binding:
    return Binding(_origin(url), root, int(auth_type or 0), sign_in_url or "")


@sensitive_variables("plain")
def seal(plain: str, binding: Binding) -> str:
    """Ciphertext for crawl_pw_str, made with the newest key; ValueError for a password that would not fit."""
    secret = plain.encode()
    if not secret or len(secret) > MAX_PLAIN_BYTES:
        raise ValueError(f"A password must have 1 to {MAX_PLAIN_BYTES} bytes")
    key_id, key = next(iter(_keys().items()))
    head = bytes([_VERSION, len(key_id)]) + key_id.encode()
    nonce = secrets.token_bytes(_NONCE_BYTES)
    sealed = AESGCM(key).encrypt(nonce, secret, head + _associated(binding))
    return _PREFIX + base64.urlsafe_b64encode(head + nonce + sealed).decode()


@sensitive_variables("plain")
def unseal(cipher: str, binding: Binding) -> str:
    """The password, if nothing it is bound to has changed since it was sealed; else CannotUnseal."""
    head, key_id, nonce, sealed = _parts(cipher)
    key = _keys().get(key_id)
    if key is None:
        raise CannotUnseal(f"The key {key_id!r} it was sealed with is not in CLEARINGHOUSE_CREDENTIAL_KEYS")
    try:
        plain = AESGCM(key).decrypt(nonce, sealed, head + _associated(binding))
    except InvalidTag:
        raise CannotUnseal("It was sealed for another site, root string or way of signing in, or is damaged") from None
    return plain.decode()


def is_sealed(text: str) -> bool:
    """Whether this is the form seal() writes; adoption seals everything else."""
    try:
        _parts(text)
    except CannotUnseal:
        return False
    return True


def sealed_with_newest_key(cipher: str) -> bool:
    return _parts(cipher)[1] == next(iter(_keys()))


def check_keys() -> None:
    """Raises ImproperlyConfigured with a sentence when CLEARINGHOUSE_CREDENTIAL_KEYS cannot be read."""
    _keys()


def _parts(cipher: str) -> tuple[bytes, str, bytes, bytes]:
    if not cipher.startswith(_PREFIX):
        raise CannotUnseal("It is not a sealed password")
    try:
        raw = base64.b64decode(cipher.removeprefix(_PREFIX), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise CannotUnseal("It is damaged") from None
    if len(raw) < 2 or raw[0] != _VERSION:
        raise CannotUnseal("It is of an unknown version")
    end = 2 + raw[1]
    head, nonce, sealed = raw[:end], raw[end : end + _NONCE_BYTES], raw[end + _NONCE_BYTES :]
    key_id = head[2:].decode("ascii", "replace")
    if not _KEY_ID.fullmatch(key_id) or len(sealed) <= 16:  # the tag alone has 16 bytes
        raise CannotUnseal("It is damaged")
    return head, key_id, nonce, sealed


def _associated(binding: Binding) -> bytes:
    return json.dumps(astuple(binding), ensure_ascii=True, separators=(",", ":")).encode()


def _origin(url: str) -> str:
    address = parse(url)
    return address.origin if isinstance(address, Address) else url


def keys_file() -> Path | None:
    """Where the keys stand, when the setting names a file."""
    named = settings.CREDENTIAL_KEYS.startswith(_IN_FILE)
    return Path(settings.CREDENTIAL_KEYS.removeprefix(_IN_FILE)) if named else None


@sensitive_variables()
def keys_text() -> str:
    """All keys as they are written: for a backup, and for their rotation."""
    path = keys_file()
    if path is None:
        return str(settings.CREDENTIAL_KEYS)
    try:
        return path.read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(
            f"CLEARINGHOUSE_CREDENTIAL_KEYS: {path} cannot be read ({error.strerror})."
        ) from None


def key_ids() -> list[str]:
    """Newest first."""
    return list(_keys())


def key_id_of(cipher: str) -> str:
    """The key this was sealed with; CannotUnseal for what is not sealed."""
    return _parts(cipher)[1]


def new_key(day: date) -> str:
    """A fresh entry for the front of the keys; its id says when it was made."""
    taken, name = set(_keys()), f"k{day:%Y%m%d}"
    free = next(one for one in (name, *(f"{name}-{n}" for n in range(2, 1000))) if one not in taken)
    return f"{free}:{base64.b64encode(secrets.token_bytes(_KEY_BYTES)).decode()}"


def _keys() -> dict[str, bytes]:
    """Read each time: a process that runs for weeks must see the key a rotation adds."""
    return _read_keys(keys_text(), str(keys_file() or "CLEARINGHOUSE_CREDENTIAL_KEYS"))


@lru_cache(maxsize=4)
@sensitive_variables()
def _read_keys(text: str, place: str) -> dict[str, bytes]:
    keys: dict[str, bytes] = {}
    for number, entry in enumerate(filter(None, (part.strip() for part in text.split(","))), start=1):
        key_id, colon, encoded = entry.partition(":")
        wrong = f"{place}: entry {number} must be id:base64"
        if not colon or not _KEY_ID.fullmatch(key_id):
            raise ImproperlyConfigured(f"{wrong}, with an id of up to 16 letters, digits, - or _.")
        if key_id in keys:
            raise ImproperlyConfigured(f"{place}: the id {key_id} appears twice.")
        try:
            key = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            raise ImproperlyConfigured(f"{wrong}; what follows {key_id}: is not base64.") from None
        if len(key) != _KEY_BYTES:
            raise ImproperlyConfigured(f"{wrong}; {key_id} has {plural(len(key), 'byte')} instead of {_KEY_BYTES}.")
        keys[key_id] = key
    if not keys:
        raise ImproperlyConfigured(f"{place} is empty; it needs at least one id:base64.")
    return keys
