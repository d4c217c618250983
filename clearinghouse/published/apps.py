from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate


class PublishedConfig(AppConfig):
    name = "clearinghouse.published"
    verbose_name = "Published pages"

    def ready(self) -> None:
        pre_migrate.connect(_take_views_down, sender=self)
        post_migrate.connect(_put_views_up, sender=self)


def _take_views_down(using: str, plan: list[Any], **_: Any) -> None:
    from ..database.adoption import database_views

    if plan:  # no table changes, no view need give way
        database_views.drop_views(using)
        database_views.alter_with_care(using)


def _put_views_up(using: str, **_: Any) -> None:
    from ..database.adoption import database_views, required_rows

    database_views.create_views(using)
    required_rows.seed(using)
