"""The entries of the crawl point dialog as text. What may be saved is decided by checks, never here."""

import json
from typing import Any

from django import forms
from django.core import signing
from django.forms.renderers import DjangoTemplates

from clearinghouse.accounts import options

from ..models import AuthType, CrawlPoint
from ..point_checks import SWITCHES, TEXTS, Invalid, exclude_lines

ADDRESS = {
    "class": "url-in",
    "inputmode": "url",
    "autocomplete": "off",
    "spellcheck": "false",
    "autocapitalize": "none",
}
NUMBER = {"class": "w4", "inputmode": "numeric", "autocomplete": "off"}
PLAIN = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "none"}
STARTING = {"active": True, "drop_sessions": True, "stop_traps": True, "auth_type": 0}
OPENED = "crawlpoints.opened"
# Columns whose values two people can disagree about, in the order of the dialog.
LABELS = {
    "url": "URL", "root": "Root string", "depth": "Depth limit", "max_pages": "Maximum pages",
    "auth_type": "Authentication", "login": "User ID", "sign_in_url": "Sign-in page",
    "sign_in_user_field": "User field", "sign_in_password_field": "Password field",
    "signed_in_text": "Signed in when the page contains", "append": "Append to addresses",
    "accept_bad_certificate": "Accept a bad certificate", "merge_schemes": "Treat http and https as one",
    "ignore_query": "Ignore query strings", "drop_sessions": "Drop session parameters",
    "stop_traps": "Stop endless addresses", "obey_nofollow": "Obey nofollow on links",
    "ignore_robots": "Ignore robots.txt", "ignore_robots_reason": "Reason", "active": "Active", "note": "Note",
}  # fmt: skip


def _text(label: str, hint: str = "", attrs: dict[str, Any] | None = None) -> forms.CharField:
    return forms.CharField(label=label, help_text=hint, required=False, widget=forms.TextInput(attrs=attrs or PLAIN))


def _box(label: str, hint: str = "") -> forms.BooleanField:
    return forms.BooleanField(label=label, help_text=hint, required=False)


class PointForm(forms.Form):
    default_renderer = DjangoTemplates

    url = _text("URL", "The page where the crawl starts. Include http:// or https://.", ADDRESS)
    root = _text(
        "Root string",
        "Only addresses that begin with exactly this text are followed. Usually the URL up to its last slash.",
        ADDRESS,
    )
    depth = _text(
        "Depth limit", "How many clicks from the URL. 0 = only the URL itself, 1 = also the pages it links to.", NUMBER
    )
    max_pages = _text("Maximum pages", "Stop this crawl point after this many pages. Leave empty for no limit.", NUMBER)
    auth_type = forms.CharField(
        label="Authentication",
        help_text="How the site asks for a password.",
        required=False,
        widget=forms.RadioSelect(choices=AuthType.choices),
    )
    login = _text("User ID", "The account used to read the site. For NTLM: DOMAIN\\name.")
    password = forms.CharField(
        label="Password",
        help_text="Stored encrypted. It is never shown again.",
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    forget_password = _box("Remove the saved password")
    sign_in_url = _text("Sign-in page", "The address of the page with the sign-in form.", ADDRESS)
    sign_in_user_field = _text("User field", "Name of the form's user field, for example username.")
    sign_in_password_field = _text("Password field", "Name of the form's password field, for example password.")
    signed_in_text = _text("Signed in when the page contains", "Text that only a signed-in page shows, or empty.")
    active = _box("Active", "Untick to skip this crawl point without losing its settings.")
    excludes = forms.CharField(
        label="Exclude URLs",
        required=False,
        strip=False,  # messages count the lines as they stand
        widget=forms.Textarea(attrs={"class": "url-in", "rows": 3, **PLAIN}),
    )
    append = _text(
        "Append to addresses",
        "Text added to the end of every address when it is fetched, for example ?print=1. "
        "Not part of the stored address.",
        ADDRESS,
    )
    note = forms.CharField(
        label="Note",
        help_text="Why this crawl point exists. Colleagues see it.",
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    accept_bad_certificate = _box(
        "Accept a bad certificate", "Read the site although its certificate is expired or from an unknown issuer."
    )
    merge_schemes = _box("Treat http and https as one", "The same page under http:// and https:// is stored once.")
    ignore_query = _box("Ignore query strings", "Addresses that differ only after the ? are one page.")
    drop_sessions = _box(
        "Drop session parameters",
        "Session ids (PHPSESSID, jsessionid, (S(…)) and the like) are not part of an address; sid=3 is.",
    )
    stop_traps = _box("Stop endless addresses", "Leave out addresses that repeat themselves or grow without end.")
    obey_nofollow = _box("Obey nofollow on links", "Leave out links that the site marks with nofollow.")
    ignore_robots = _box("Ignore robots.txt", "Only with the consent of the site's owner; kept with your name.")
    ignore_robots_reason = _text("Reason", "Why robots.txt may be ignored here.")
    version = forms.CharField(required=False, widget=forms.HiddenInput)
    opened = forms.CharField(required=False, widget=forms.HiddenInput)
    excludes_opened = forms.CharField(required=False, widget=forms.HiddenInput)

    def entries(self) -> dict[str, Any]:
        """What was typed, for checks and services."""
        self.is_valid()  # fills cleaned_data; no field here is ever required
        names = (*TEXTS, *SWITCHES, "depth", "max_pages", "password", "forget_password", "excludes", "excludes_opened")
        return {name: self.cleaned_data.get(name, "") for name in names} | {
            "auth_type": self.cleaned_data.get("auth_type") or 0
        }

    def refuse(self, wrong: Invalid) -> None:
        for name, messages in wrong.errors.items():
            for message in messages:
                self.add_error(name if name in self.fields else None, message)

    @property
    def problems(self) -> list[tuple[str, str]]:
        """For the error summary: the same words as at the fields, in their order."""
        found = [("", str(message)) for message in self.non_field_errors()]
        for field in self:
            found += [(field.id_for_label or f"{field.auto_id}_0", str(message)) for message in field.errors]
        return found


def initial_of(point: CrawlPoint, patterns: list[str]) -> dict[str, Any]:
    """The stored values as the dialog shows them."""
    values: dict[str, Any] = {name: getattr(point, name) or "" for name in TEXTS}
    values |= {name: bool(getattr(point, name)) for name in SWITCHES}
    return values | {
        "depth": point.depth,
        "max_pages": point.max_pages or "",
        "auth_type": point.auth_type or 0,
        "version": point.version if point.version is not None else "",
        "opened": signing.dumps(comparable(values_of(point)), salt=OPENED, compress=True),
        **excludes_initial(patterns),
    }


def starting() -> dict[str, Any]:
    """What a new crawl point begins with; the limits are chosen by the administrators."""
    limits = options.starting_limits()
    return STARTING | limits | {"max_pages": limits["max_pages"] or ""}


def excludes_initial(patterns: list[str]) -> dict[str, str]:
    return {"excludes": "\n".join(patterns), "excludes_opened": json.dumps(patterns)}


def opened_lines(text: str) -> list[str]:
    try:
        return exclude_lines([str(line) for line in json.loads(text or "[]")])
    except (ValueError, TypeError):
        return []


def values_of(point: CrawlPoint) -> dict[str, Any]:
    return {name: getattr(point, name) for name in LABELS}


def comparable(values: dict[str, Any]) -> dict[str, str]:
    """Values as text, so that 3 and "3", None and "" are equal."""
    out = {}
    for name in LABELS:
        value = values.get(name)
        if name in SWITCHES:
            out[name] = "yes" if value in (True, 1, "1", "on") else "no"
        elif name == "auth_type":
            out[name] = str(value or 0)
        elif name == "max_pages":
            out[name] = str(value or "").strip() if str(value or "").strip() != "0" else ""
        else:
            out[name] = str(value if value is not None else "").strip()
    return out


def opened_values(text: str) -> dict[str, str]:
    """What the dialog showed when it was opened; empty if the mark was lost or forged."""
    try:
        return dict(signing.loads(text, salt=OPENED))
    except signing.BadSignature:
        return {}
