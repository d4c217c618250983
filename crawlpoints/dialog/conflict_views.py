"""Two people changed one crawl point: what each wrote, side by side, and the choice field by field."""

from typing import Any

from django.http import QueryDict

from ..models import AuthType, CrawlPoint
from ..point_checks import SWITCHES
from .forms import LABELS, PointForm, comparable, opened_values, values_of

MINE, THEIRS = "yours", "theirs"


def comparison(point: CrawlPoint, form: PointForm) -> dict[str, Any]:
    """For the page: the fields where their value and yours differ, and all of yours to send again."""
    theirs = comparable(values_of(point))
    mine = comparable(form.entries())
    opened = opened_values(form.cleaned_data.get("opened", ""))
    rows = [
        {
            "name": name,
            "label": LABELS[name],
            "opened": _shown(name, opened.get(name)),
            "theirs": _shown(name, theirs[name]),
            "mine": _shown(name, mine[name]),
            # Yours where the other person changed nothing, so that no work of theirs goes by accident.
            "chosen": MINE if name in opened and opened[name] == theirs[name] else THEIRS,
        }
        for name in LABELS
        if theirs[name] != mine[name]
    ]
    return {"rows": rows, "typed": _typed(form), "password_lost": bool(form.data.get("password"))}


def merged(data: QueryDict, point: CrawlPoint) -> QueryDict:
    """After the choice: your entries, with theirs where theirs were chosen, against the version that was shown."""
    names = [name for name in LABELS if data.get(f"choice-{name}") == THEIRS]
    if not any(key.startswith("choice-") for key in data):
        return data
    data = data.copy()
    for name in names:
        value = getattr(point, name)
        if name in SWITCHES and not value:
            data.pop(name, None)
        else:
            data[name] = "on" if name in SWITCHES else str(value if value is not None else "")
    return data


def _typed(form: PointForm) -> list[tuple[str, str]]:
    """Everything that was sent, to be sent again; never the password."""
    sent = form.data
    assert isinstance(sent, QueryDict)
    left_out = {"password", "csrfmiddlewaretoken", "do", "version", "test"}
    return [
        (name, value)
        for name, values in sent.lists()
        for value in values
        if name not in left_out and not name.startswith("choice-")
    ]  # fmt: skip


def _shown(name: str, value: str | None) -> str:
    if value is None:
        return "–"
    if name == "auth_type":
        known = value in {str(one) for one in AuthType.values}
        return AuthType(int(value)).label if known else value
    if name == "max_pages":
        return value or "No limit"
    return value or "empty"
