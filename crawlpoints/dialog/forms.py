"""The entries of the crawl point dialog as text. What may be saved is decided by checks, never here."""

import json
from typing import Any

from django import forms
from django.core import signing
from django.forms.renderers import DjangoTemplates

from clearinghouse.accounts import options

from ..models import OPTIONS, AuthType, CrawlPoint, PointOption
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
STARTING = {name: bool(OPTIONS[name].default) for name in SWITCHES} | {"auth_type": 0}
OPENED = "crawlpoints.opened"
# Columns whose values two people can disagree about.
LABELS = {name: option.label for name, option in OPTIONS.items()}
_ATTRS = {"address": ADDRESS, "number": NUMBER, "text": PLAIN}


def _field(option: PointOption) -> forms.Field:
    said: dict[str, Any] = {"label": option.label, "help_text": option.hint, "required": False}
    if option.kind == "switch":
        return forms.BooleanField(**said)
    if option.widget == "choice":
        return forms.CharField(widget=forms.RadioSelect(choices=AuthType.choices), **said)
    if option.widget == "area":
        return forms.CharField(widget=forms.Textarea(attrs={"rows": 2}), **said)
    return forms.CharField(widget=forms.TextInput(attrs=_ATTRS[option.widget or option.kind]), **said)


_OptionsForm: Any = type(forms.Form)("_OptionsForm", (forms.Form,), {n: _field(one) for n, one in OPTIONS.items()})


class PointForm(_OptionsForm):
    default_renderer = DjangoTemplates

    # In the summary of errors the fields stand as in the dialog.
    field_order = (
        "url", "root", "depth", "max_pages", "auth_type", "login", "password", "forget_password", "sign_in_url",
        "sign_in_user_field", "sign_in_password_field", "signed_in_text", "active", "excludes",
    )  # fmt: skip
    password = forms.CharField(
        label="Password",
        help_text="Stored encrypted. It is never shown again.",
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    forget_password = forms.BooleanField(label="Remove the saved password", required=False)
    excludes = forms.CharField(
        label="Exclude URLs",
        required=False,
        strip=False,  # messages count the lines as they stand
        widget=forms.Textarea(attrs={"class": "url-in", "rows": 3, **PLAIN}),
    )
    version = forms.CharField(required=False, widget=forms.HiddenInput)
    opened = forms.CharField(required=False, widget=forms.HiddenInput)
    excludes_opened = forms.CharField(required=False, widget=forms.HiddenInput)

    def entries(self) -> dict[str, Any]:
        """What was typed, for checks and services."""
        self.is_valid()  # fills cleaned_data; no field here is ever required
        names = (*OPTIONS, "password", "forget_password", "excludes", "excludes_opened")
        return {name: self.cleaned_data.get(name, "") for name in names} | {
            "auth_type": self.cleaned_data.get("auth_type") or 0
        }

    def refuse(self, wrong: Invalid) -> None:
        for name, messages in wrong.errors.items():
            for message in messages:
                self.add_error(name if name in self.fields else None, message)

    @property
    def more(self) -> list[forms.BoundField]:
        """What stands under "More options"."""
        return [self[name] for name, option in OPTIONS.items() if option.more]

    @property
    def more_open(self) -> bool:
        """Whether any of it is wrong, or not as it mostly is."""
        return any(one.errors or (one.value() and not OPTIONS[one.name].default) for one in self.more)

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
