"""What opens the pages of one crawl point, as the fetchers use it: the password, the sign-in form, and its bell."""

from collections.abc import Callable
from dataclasses import dataclass, field

from crawler.values import Credentials

BASIC, DIGEST, NTLM, FORM = 1, 2, 3, 4  # the numbers of crawl_auth_type_id


@dataclass(frozen=True, slots=True)
class SiteSignInForm:
    """Where to sign in, and how to tell that it worked."""

    url: str
    user_field: str
    password_field: str
    signed_in_text: str


def _unheard(_: str) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True)
class PointKey(Credentials):
    """Credentials of a crawl point. `pause` is called once, when the site will not have them any more."""

    point_id: int = 0
    form: SiteSignInForm | None = None
    refused: int = 0  # times its site refused it before, in this run
    pause: Callable[[str], None] = field(default=_unheard, compare=False, repr=False)
