"""The answer to somebody who asks for one look at a site too many: the page as it is, and when to try again."""

from typing import Any

from django.http import HttpResponse

_TOO_MANY = 429


def seconds_of(look: Any) -> int:
    """After which it may be tried again; 0 of whatever is no look that was refused."""
    return int(getattr(look, "retry_after", 0))


def marked(answer: HttpResponse, seconds: int) -> HttpResponse:
    """With its status, when nobody looked; nothing that was typed is lost."""
    if seconds:
        answer.status_code = _TOO_MANY
        answer.headers["Retry-After"] = str(seconds)
    return answer
