"""Owns: the choices of the administrators that hold for the whole house, with their defaults. Does not: obey them.

Called by: policies (who may launch), the dialog (first values), the settings screens.
"""

from dataclasses import dataclass

from django.db import transaction

from clearinghouse import env
from clearinghouse.audit import services as audit

from .models import Option


@dataclass(frozen=True, slots=True)
class OptionChoice:
    name: str
    label: str
    default: str
    sentence: str  # for the audit: what was changed


DEVELOPERS_LAUNCH = "developers_launch"
MANAGERS_LAUNCH = "managers_launch"
DEPTH = "default_depth"
MAX_PAGES = "default_max_pages"
SPEED = "default_speed"
NOTICES = "default_notices"
DIGEST, EACH, TRAY_ONLY = "digest", "each", "tray"

CHOICES = {
    choice.name: choice
    for choice in (
        OptionChoice(
            DEVELOPERS_LAUNCH, "Content developers may launch crawls of their own documents", "no", "launching"
        ),
        OptionChoice(MANAGERS_LAUNCH, "Project managers may launch crawls of their projects", "no", "launching"),
        OptionChoice(DEPTH, "Depth limit", "3", "crawl defaults"),
        OptionChoice(MAX_PAGES, "Maximum pages", "500", "crawl defaults"),
        OptionChoice(SPEED, "Speed", "", "crawl defaults"),
        OptionChoice(NOTICES, "Notices by e-mail", DIGEST, "notices"),
    )
}


def text(name: str) -> str:
    stored = Option.objects.filter(pk=name).values_list("value", flat=True).first()
    return CHOICES[name].default if stored is None else stored


def number(name: str) -> int:
    value = text(name)
    return int(value) if value.isascii() and value.isdigit() else 0


def starting_limits() -> dict[str, int]:
    """What a new crawl point begins with where nobody says otherwise."""
    return {"depth": number(DEPTH), "max_pages": number(MAX_PAGES)}


def speed() -> str:
    """Of a launch that names none: what the administrators chose, else as the server is set up."""
    return text(SPEED) or env.text("SPEED")


def all_of(*names: str) -> dict[str, str]:
    """Several at once, one query."""
    stored = dict(Option.objects.filter(pk__in=names).values_list("name", "value"))
    return {name: stored.get(name, CHOICES[name].default) for name in names}


@transaction.atomic
def choose(values: dict[str, str]) -> bool:
    """Whether anything changed; written down with what was before."""
    before = all_of(*values)
    if before == values:
        return False
    for name, value in values.items():
        option, _ = Option.objects.update_or_create(pk=name, defaults={"value": value})
    changed = sorted({CHOICES[name].sentence for name in values})
    audit.record("change", option, f"Changed settings: {', '.join(changed)}", before=before, after=values)
    return True
