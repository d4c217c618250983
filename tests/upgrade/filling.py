"""Inside an install: one row in each table that holds none, of the kind that people and accidents write.

`python -m tests.upgrade.filling` fills the databases that the environment names.
"""

import datetime
import uuid
from typing import Any

ODD = "Étude “A”\u00a0’s 中文 𝄞 \u202eabc\u202c \" ' ; -- <b>%s</b> \\ {0}\ttab"
BYTES = b"\x00\xff\xfe'\"\\"
THEN = datetime.datetime(1999, 12, 31, 23, 59, 59, 999999, tzinfo=datetime.UTC)


def fill() -> None:
    from django.apps import apps
    from django.db import connections, router

    for alias in connections:
        left = [
            model
            for model in apps.get_models(include_auto_created=True)
            if model._meta.managed and not model._meta.proxy and router.allow_migrate_model(alias, model)
        ]
        while left:  # those others refer to come first
            begun = len(left)
            left = [model for model in left if not _filled(alias, model)]
            assert len(left) < begun, f"{alias}: nothing fills {left}"


def _filled(alias: str, model: Any) -> bool:
    rows = model._base_manager.using(alias)
    if rows.exists():
        return True
    values = {}
    for field in model._meta.local_concrete_fields:
        if field.is_relation:
            value = field.related_model._base_manager.using(alias).values_list("pk", flat=True).first()
            if value is None and not field.null:
                return False
        else:
            value = _value(field)
        if value is not None:
            values[field.attname] = value
    model(**values).save_base(raw=True, using=alias, force_insert=True)
    return True


def _value(field: Any) -> Any:
    """An odd value of the kind, as long as the column takes."""
    kind = field.get_internal_type()
    if kind in ("AutoField", "BigAutoField"):
        return None
    if field.choices:
        return next(iter(dict(field.flatchoices)))
    if kind == "BinaryField":
        return BYTES.ljust(32, b"\x01") if field.max_length == 32 else BYTES
    if kind in ("CharField", "TextField", "SlugField", "URLField", "EmailField"):
        return ODD[: field.max_length]
    odd = {
        "DateTimeField": THEN, "DateField": THEN.date(), "TimeField": THEN.time(), "FloatField": -0.1,
        "BooleanField": True, "JSONField": {"é": [1, None, "𝄞"]}, "UUIDField": uuid.UUID(int=7),
        "DurationField": datetime.timedelta(days=-1),
    }  # fmt: skip
    return odd.get(kind, 1 if field.primary_key else 7)


if __name__ == "__main__":
    import django

    django.setup()
    fill()
