"""Owns: sealing the plain site passwords of an adopted library, and those other programs write later.

Does not: read sealed ones. Called by: adoption.prepare. Never says, logs or keeps a password.
"""

from typing import Any

from django.apps import apps
from django.db import connections, transaction
from django.views.decorators.debug import sensitive_variables

from clearinghouse.database.aliases import DEFAULT
from clearinghouse.database.records import next_version
from clearinghouse.vault.sealing import MAX_PLAIN_BYTES, binding_of, is_sealed, seal

from .. import introspection

_BOUND = ("url", "root", "auth_type", "sign_in_url")  # what a password is bound to


@sensitive_variables()
def seal_plain() -> tuple[int, list[str]]:
    """How many were sealed, and a sentence about each that cannot be. Safe to repeat."""
    model = apps.get_model("crawlpoints", "CrawlPoint")  # by name: this room stands below crawlpoints
    if model._meta.db_table not in introspection.tables(connections[DEFAULT]):
        return 0, []
    sealed, refused = 0, []
    plain = model.everything.exclude(password=None).exclude(password="").only("pk", *_BOUND, "password")
    for point in plain.iterator(chunk_size=500):
        if is_sealed(point.password):
            continue
        if len(point.password.encode()) > MAX_PLAIN_BYTES:
            refused.append(f"The password of crawl point {point.pk} is too long to be sealed; enter it again")
            continue
        sealed += _seal_one(model, point)
    return sealed, refused


@sensitive_variables()
def _seal_one(model: Any, point: Any) -> int:
    """Changes the row only if it still holds the password that was read."""
    binding = binding_of(point.url, point.root, point.auth_type, point.sign_in_url)
    with transaction.atomic(using=DEFAULT):
        same = model.everything.filter(pk=point.pk, password=point.password)
        return int(same.update(password=seal(point.password, binding), version=next_version()))
