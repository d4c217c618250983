"""Owns: how often somebody may try to sign in, and what somebody who tried too often is told.

Three things are counted, for 15 minutes each: wrong passwords of a name from an address (5), of all names from an
address (10), of a name from everywhere (10). The first two refuse. The third only makes each new address have one
try in place of five, so that nobody locks somebody else out from afar. Whoever signed in well from an address within
the last 30 days is met by the first only, there; the browser they did it in is a place of its own, so that nobody at
the same address locks them out either. A name that does not exist is counted like any other.
Does not: compute passwords, or write to the audit. Called by: sign_in, own_password.
"""

import secrets
import unicodedata
from dataclasses import dataclass
from datetime import datetime, timedelta

from . import recent_events
from .visitor_key import visitor_key

OF_NAME_HERE = 5
OF_ADDRESS = 10
OF_NAME = 10
UNDER_ATTACK = 1  # instead of OF_NAME_HERE
WINDOW = timedelta(minutes=15)
KNOWN_FOR = timedelta(days=30)


class TooManyTries(Exception):
    """A sentence for the person, and after how many seconds it is worth trying again."""

    def __init__(self, what: str, seconds: int) -> None:
        super().__init__(f"{what}: try again in {_in_words(seconds)}, or ask an administrator for a new password.")
        self.seconds = seconds


def _in_words(seconds: int) -> str:
    minutes = -(-seconds // 60)
    return "a minute" if minutes <= 1 else f"{minutes} minutes"


def _account(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip().casefold()


@dataclass(frozen=True, slots=True)
class AttemptKeys:
    """The keys under which one try is counted."""

    name_here: str
    address: str
    name: str
    known: str  # noted when somebody signs in well

    @classmethod
    def of(cls, name: str, address: str, browser: str = "") -> "AttemptKeys":
        """`browser` is the text of its cookie, which counts for nothing unless it is known: see counted()."""
        account, here = _account(name), visitor_key(address)
        place = f"browser {browser}" if browser else here
        key = recent_events.key_of
        return cls(
            key("sign-in here", account, place),
            key("sign-in from", here),
            _of_name(account),
            key("known", account, place),
        )

    def all(self) -> tuple[str, ...]:
        return (self.name_here, self.address, self.name)


def _of_name(account: str) -> str:
    return recent_events.key_of("sign-in as", account)


@dataclass(frozen=True, slots=True)
class AttemptCounts:
    """What is counted now, before a try or (with the try itself) after it was noted."""

    here: recent_events.EventCount
    address: recent_events.EventCount
    name: recent_events.EventCount
    known: bool

    def refuse(self, noted: int = 0) -> None:
        """Raises TooManyTries; `noted` is 1 when the try is among what was counted."""
        if self.here.number >= OF_NAME_HERE + noted:
            raise TooManyTries("Too many wrong tries with this name from here", self.here.wait())
        if self.known:
            return
        if self.name.number >= OF_NAME + noted and self.here.number >= UNDER_ATTACK + noted:
            what = "Many wrong passwords were tried with this name, so each place has one try"
            raise TooManyTries(what, self.here.wait())
        if self.address.number >= OF_ADDRESS + noted:
            raise TooManyTries("Too many wrong tries from your network address", self.address.wait())


def counted(name: str, address: str, browser: str) -> AttemptKeys:
    """By the browser where this person signed in well in it, else by the address."""
    if browser and recent_events.number_of((own := AttemptKeys.of(name, address, browser)).known):
        return own
    return AttemptKeys.of(name, address)


def state(counted: AttemptKeys) -> AttemptCounts:
    found = recent_events.tallies([*counted.all(), counted.known])
    known = found[counted.known].number > 0
    return AttemptCounts(found[counted.name_here], found[counted.address], found[counted.name], known)


def note(counted: AttemptKeys) -> datetime:
    """Before the password is looked at, so that a hundred tries at once are still only five."""
    return recent_events.note(counted.all(), WINDOW)


def take_back(counted: AttemptKeys, moment: datetime) -> None:
    recent_events.take_back(counted.all(), moment)


def signed_in(counted: AttemptKeys) -> None:
    """The tries before it with this name from here were typing mistakes; those with other names stay counted."""
    recent_events.forget_together(counted.name_here, counted.all())


def remember_place(name: str, address: str, before: str) -> str:
    """The address, and this browser under a new text for its cookie, which is returned; the one before is forgotten."""
    browser = secrets.token_urlsafe(16)
    if before:
        recent_events.forget(AttemptKeys.of(name, address, before).known)
    for place in (AttemptKeys.of(name, address), AttemptKeys.of(name, address, browser)):
        recent_events.remember(place.known, KNOWN_FOR)
    return browser


def forgive(name: str) -> None:
    """Somebody got a new password: whoever tried the old one too often need not wait for it."""
    recent_events.forget_moments(_of_name(_account(name)))
