"""Owns: the check that links in mails lead somewhere. Does not: send mails. Called by: `manage.py check --deploy`."""

from typing import Any

from django.core.checks import CheckMessage, Warning

from clearinghouse import env

SENTENCE = "Mails are sent (MAIL), but their links have no site to lead to"
HINT = "Set CLEARINGHOUSE_PUBLIC_URL to the address people use, like https://clearinghouse.example.org"


def check_links(app_configs: Any = None, **options: Any) -> list[CheckMessage]:
    """A mail says where to look: without the address of this site it says only /crawls/7/."""
    if not env.text("MAIL") or env.text("PUBLIC_URL"):
        return []
    return [Warning(SENTENCE, hint=HINT, id="clearinghouse.W001")]
