"""Owns: every change to crawl points and exclude URLs, each in one transaction with its audit entry.

Does not: ask who may (policies), speak HTTP. Called by: screens, admin, commands, the demo.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, transaction
from django.views.decorators.debug import sensitive_variables

from clearinghouse.audit import services as audit
from clearinghouse.database.records import StaleRecord
from clearinghouse.library.models import Document
from clearinghouse.library.services import crawl_point_field
from clearinghouse.vault.sealing import binding_of, seal

from . import point_checks
from .models import OPTIONS, CrawlPoint, CrawlPointLink, ExcludeUrl
from .point_checks import Around, Invalid
from .point_warnings import Caution, cautions_for
from .queries import document_of, excludes_of, neighbours_of, patterns_of
from .typed_urls import suggested_url

COLUMNS = (*point_checks.TEXTS, *point_checks.SWITCHES, *point_checks.NUMBERS)
NEW: dict[str, Any] = {name: option.default for name, option in OPTIONS.items()}
DUPLICATE = "This document already has this crawl point"
BEING_IMPORTED = "An import that has not ended adds this crawl point: finish or cancel it first"
CLEARED = (
    "The saved password was removed, because it may only be used for the site, root string and way of signing in "
    "it was entered for. Enter it again"
)


@sensitive_variables("values", "clean")
def add_crawl_point(document: Document, values: Mapping[str, Any]) -> tuple[CrawlPoint, list[Caution]]:
    """Values as in the dialog; what is missing takes the seed's defaults. Raises Invalid."""
    around = Around(points=neighbours_of(document), excludes=patterns_of(document))
    clean = point_checks.check_point({**NEW, **values}, around)
    point = CrawlPoint(**{name: clean[name] for name in COLUMNS})
    point.password = _sealed(point, clean["password"])
    with one_of_a_kind(point), transaction.atomic():
        point.key = point_key(document.pk, point.url, point.root)
        point.save()
        field = crawl_point_field(document)
        CrawlPointLink.objects.create(document=document, field=field, crawl_point=point)
        after = facts(point) | _typed(values, point)
        _record("add", point, f"Added crawl point {point.url}", document.pk, after=after)
        _set_excludes(document, clean, values)
    return point, cautions_for(point, around.points)


@sensitive_variables("values", "clean")
def update_crawl_point(
    point: CrawlPoint, values: Mapping[str, Any], version: int | None = None, *, cautions: bool = True
) -> tuple[CrawlPoint, list[Caution]]:
    """Changes what the values name. `version` is the one the person saw: StaleRecord if it is no more.

    Without `cautions` the other crawl points are not read: who changes many would read all of them for each. That there
    is no duplicate the unique key says.
    """
    document = _owner(point)
    before = facts(point)
    bound = _binding(point)
    neighbours = neighbours_of(document, but=point.pk) if cautions else []
    entries = {name: getattr(point, name) for name in COLUMNS} | dict(values)
    forget = bool(values.get("forget_password"))
    around = Around(neighbours, patterns_of(document), has_password=bool(point.password) or forget)
    clean = point_checks.check_point(entries, around)
    for name in COLUMNS:
        setattr(point, name, clean[name])
    cleared = bool(point.password) and not clean["password"] and (forget or _binding(point) != bound)
    if clean["password"] or cleared:
        point.password = _sealed(point, clean["password"])
    if version is not None:
        point.version = version
    with one_of_a_kind(point), transaction.atomic():
        point.key = point_key(document.pk, point.url, point.root)
        point.save()
        after = facts(point) | _typed(values, point)
        _record("change", point, f"Changed crawl point {point.url}", document.pk, before=before, after=after)
        _set_excludes(document, clean, values)
    found = cautions_for(point, neighbours) if cautions else []
    return point, [Caution("password_cleared", CLEARED), *found] if cleared and not forget else found


@transaction.atomic
def delete_crawl_point(point: CrawlPoint) -> None:
    """Nominal: the row and its link stay, restorable; its key is free for another."""
    document = document_of(point)
    point.key = None
    point.deleted = 1
    point.save(update_fields=["key", "deleted"])
    CrawlPointLink.objects.filter(crawl_point=point).delete()
    _record("delete", point, f"Deleted crawl point {point.url}", document.pk if document else None)


def restore_crawl_point(point: CrawlPoint) -> CrawlPoint:
    """Back as it was; Invalid while the document has a live duplicate."""
    document = _owner(point)
    key = point_key(document.pk, point.url, point.root)
    duplicate = CrawlPoint.objects.filter(key=key).exclude(pk=point.pk).first()
    if duplicate:
        raise Invalid({"url": [f"{DUPLICATE}: {point.url} was added again meanwhile"]}, duplicate=duplicate.pk)
    with one_of_a_kind(point), transaction.atomic():
        point.key = key
        point.deleted = 0
        point.save(update_fields=["key", "deleted"])
        CrawlPointLink.everything.filter(crawl_point=point, document=document).order_by("-updated_at")[0].restore()
        _record("restore", point, f"Restored crawl point {point.url}", document.pk)
    return point


@transaction.atomic
def set_active(points: Sequence[CrawlPoint], active: bool) -> int:
    """How many were changed; the others were that way already."""
    changed = [point for point in points if bool(point.active) is not active]
    for point in changed:
        point.active = int(active)
        point.save(update_fields=["active"])
        document = document_of(point)
        sentence = f"{'Activated' if active else 'Deactivated'} crawl point {point.url}"
        values = {"before": {"active": int(not active)}, "after": {"active": int(active)}}
        _record("change", point, sentence, document.pk if document else None, **values)
    return len(changed)


def add_exclude_url(document: Document, pattern: str, note: str = "") -> ExcludeUrl:
    """`note`, for the audit, says why. Raises Invalid({"pattern": …})."""
    text = point_checks.check_exclude(pattern, neighbours_of(document), patterns_of(document))
    try:
        with transaction.atomic():
            return _add_exclude(document, text, note)
    except IntegrityError:
        raise Invalid({"pattern": ["This exclude URL is already in the list"]}) from None


@transaction.atomic
def delete_exclude_url(exclude: ExcludeUrl) -> None:
    exclude.key = None
    exclude.deleted = 1
    exclude.save(update_fields=["key", "deleted"])
    _record("delete", exclude, f"Deleted exclude URL {exclude.pattern}", exclude.document_id)


@transaction.atomic
def restore_exclude_url(exclude: ExcludeUrl) -> ExcludeUrl:
    key = exclude_key(exclude.document_id, exclude.pattern)
    if ExcludeUrl.objects.filter(key=key).exclude(pk=exclude.pk).exists():
        raise Invalid({"pattern": ["This exclude URL is already in the list"]})
    exclude.key = key
    exclude.deleted = 0
    exclude.save(update_fields=["key", "deleted"])
    _record("restore", exclude, f"Restored exclude URL {exclude.pattern}", exclude.document_id)
    return exclude


def point_key(document_id: int, url: str, root: str) -> str:
    """One live row per document, URL and root string, exact on every server."""
    text = f"{document_id}\n{suggested_url(url)}\n{point_checks.comparable_root(root)}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def exclude_key(document_id: int, pattern: str) -> str:
    return hashlib.sha256(f"{document_id}\n{pattern}".encode("utf-8", "surrogatepass")).hexdigest()


def facts(point: CrawlPoint) -> dict[str, Any]:
    """What the audit keeps of a crawl point; of the password only whether there is one."""
    values = {name: getattr(point, name) for name in COLUMNS}
    return values | {"has_saved_pw": bool(point.password)}


def binding_changes(point: CrawlPoint, clean: Mapping[str, Any]) -> bool:
    """Whether a saved password may not be used any more with these values."""
    names = ("url", "root", "auth_type", "sign_in_url")
    return bool(binding_of(*(clean[name] for name in names)) != _binding(point))


# ---- inside ----


@contextmanager
def one_of_a_kind(point: CrawlPoint) -> Iterator[None]:
    """The unique key is the last word when two people add the same crawl point at once."""
    try:
        yield
    except IntegrityError:
        hidden = CrawlPoint.everything.filter(key=point.key, deleted=1).exists()
        raise Invalid({"url": [BEING_IMPORTED if hidden else DUPLICATE]}) from None


def _owner(point: CrawlPoint) -> Document:
    document = document_of(point)
    if document is None:
        raise StaleRecord(f"crawl point {point.pk} belongs to no document")
    return document


def _binding(point: CrawlPoint) -> Any:
    return binding_of(point.url, point.root, point.auth_type, point.sign_in_url)


@sensitive_variables("plain")
def _sealed(point: CrawlPoint, plain: str) -> str | None:
    return seal(plain, _binding(point)) if plain else None


def _typed(values: Mapping[str, Any], point: CrawlPoint) -> dict[str, str]:
    """What was typed as URL, where the stored form differs."""
    text = str(values.get("url") or "").strip()
    return {"typed": text} if text and text != point.url else {}


def _set_excludes(document: Document, clean: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Applies what the person changed since the list was opened, so that a colleague's new lines survive."""
    if "excludes" not in clean:
        return
    existing = {row.pattern: row for row in excludes_of(document)}
    opened = point_checks.exclude_lines(values.get("excludes_opened", list(existing)))
    for pattern in clean["excludes"]:
        if pattern not in existing and pattern not in opened:
            _add_exclude(document, pattern)
    for pattern in opened:
        if pattern in existing and pattern not in clean["excludes"]:
            delete_exclude_url(existing[pattern])


def _add_exclude(document: Document, pattern: str, note: str = "") -> ExcludeUrl:
    exclude = ExcludeUrl.objects.create(document=document, pattern=pattern, key=exclude_key(document.pk, pattern))
    after = {"pattern": pattern} | ({"note": note} if note else {})
    _record("add", exclude, f"Added exclude URL {pattern}" + (f": {note}" if note else ""), document.pk, after=after)
    return exclude


def _record(action: str, thing: Any, sentence: str, document_id: int | None, **values: Any) -> None:
    audit.record(action, thing, sentence, document_id=document_id, **values)
