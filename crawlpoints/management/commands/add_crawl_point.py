"""manage.py add_crawl_point DOC URL …"""

import os
from typing import Any

from django.core.management.base import CommandParser
from django.views.decorators.debug import sensitive_variables

from clearinghouse.library.models import Document
from clearinghouse.operations import command_base
from clearinghouse.operations.command_base import WRONG_USE, Stop, whole
from crawlpoints.models import AuthType
from crawlpoints.point_checks import Invalid, suggested_root
from crawlpoints.services import add_crawl_point

TYPES = {"basic": AuthType.BASIC, "digest": AuthType.DIGEST, "ntlm": AuthType.NTLM, "form": AuthType.FORM}


class Command(command_base.Command):
    help = "Adds a crawl point to a document."

    def options(self, parser: CommandParser) -> None:
        parser.add_argument("doc", type=whole(1), metavar="DOC", help="number of the document")
        parser.add_argument("url", metavar="URL", help="the page where the crawl starts, with http:// or https://")
        parser.add_argument("--root", default="", help="root string; default: the URL up to its last slash")
        parser.add_argument("--depth", default="0", metavar="N", help="depth limit, 0 to 999; default 0: only the URL")
        parser.add_argument("--max-pages", default="0", metavar="N", help="maximum pages; default 0: no limit")
        parser.add_argument("--append", default="", metavar="S", help="text added to addresses when fetching")
        parser.add_argument("--inactive", action="store_true", help="do not crawl it until it is activated")
        parser.add_argument("--note", default="", metavar="N", help="why this crawl point exists")
        group = parser.add_argument_group("how the site asks for a password")
        group.add_argument("--auth", choices=TYPES, help="default: it does not")
        group.add_argument("--user", default="", metavar="U", help="user ID")
        group.add_argument("--password-env", metavar="VAR", help="environment variable that holds the password")
        group.add_argument("--sign-in-url", default="", metavar="U", help="page with the sign-in form")
        group.add_argument("--user-field", default="", metavar="F", help="name of its user field")
        group.add_argument("--password-field", default="", metavar="F", help="name of its password field")
        group.add_argument("--signed-in-text", default="", metavar="T", help="text of a page once signed in")

    @sensitive_variables()
    def work(self, **options: Any) -> dict[str, Any]:
        document = Document.objects.filter(pk=options["doc"]).first()
        if document is None:
            raise Stop(f"There is no document {options['doc']}", WRONG_USE)
        _refuse_idle(options)
        try:
            point, cautions = add_crawl_point(document, _values(options))
        except Invalid as wrong:
            unasked = "root" if not options["root"] and "url" in wrong.errors else ""  # it came from the wrong URL
            errors = {name: messages for name, messages in wrong.errors.items() if name != unasked}
            raise Stop("; ".join(wrong.sentences(errors)), WRONG_USE) from None
        self.say(f"Added crawl point {point.pk} to {document.title}: {point.url}")
        for caution in cautions:
            self.say(f"Note: {caution.text}")
        return {"crawl_point_id": point.pk, "warnings": [caution.text for caution in cautions]}


def _refuse_idle(options: dict[str, Any]) -> None:
    """A login that would not be used is a slip: the crawl would run without it, and see other pages."""
    form = [name for name in ("sign_in_url", "user_field", "password_field", "signed_in_text") if options[name]]
    idle = [*form] if options["auth"] != "form" else []
    if options["auth"] is None:
        idle += [name for name in ("user", "password_env") if options[name]]
    if idle:
        wanted = "--auth form" if idle[0] in form else f"--auth {', '.join(TYPES)}"
        raise Stop(f"--{idle[0].replace('_', '-')} counts only with {wanted}", WRONG_USE)


@sensitive_variables()
def _values(options: dict[str, Any]) -> dict[str, Any]:
    return {
        "url": options["url"],
        "root": options["root"] or suggested_root(options["url"]) or options["url"],
        "depth": options["depth"],
        "max_pages": options["max_pages"],
        "auth_type": TYPES.get(options["auth"], AuthType.NONE),
        "login": options["user"],
        "password": _password(options["password_env"]),
        "sign_in_url": options["sign_in_url"],
        "sign_in_user_field": options["user_field"],
        "sign_in_password_field": options["password_field"],
        "signed_in_text": options["signed_in_text"],
        "append": options["append"],
        "active": not options["inactive"],
        "note": options["note"],
    }


def _password(variable: str | None) -> str:
    if not variable:
        return ""
    value = os.environ.get(variable, "")
    if not value:
        raise Stop(f"The environment variable {variable} is not set", WRONG_USE)
    return value
