"""Owns: the people and the rows that requests of the record are asked about; the four databases they stand in.

The rows are those of the matrix of routes (tests/access), and a second run, so that runs can be compared. Their ids are
the same in every record: the databases are new, and what a part of the record writes is taken back.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

PEOPLE = ("administrator", "manager", "editor", "reader", "stranger", "visitor")


@dataclass(frozen=True)
class World:
    people: dict[str, Any]
    given: dict[str, Any]  # what fills the arguments of an address
    document: Any
    other_document: Any


def make_databases() -> None:
    """Empty databases in memory for this process, as Django makes them for tests; and no mail, no pause of looks."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import logging

    import django
    from django.test.utils import setup_databases, setup_test_environment

    django.setup()
    setup_test_environment(debug=False)
    setup_databases(verbosity=0, interactive=False)

    from crawler.preview import throttled_client

    logging.disable(logging.CRITICAL)  # of every refusal a line
    throttled_client.pause_of_looks = lambda: 0.0


@contextmanager
def world() -> Iterator[World]:
    from django.core.cache import cache

    from tests.accounts.routes import arguments, everybody, project_one, undone
    from tests.crawler.runs.rows import make_run

    cache.clear()
    with undone():
        own, other = project_one()
        people = everybody(own, other)
        ended = make_run(own, other, state="finished", queued=0)
        given = arguments(people, own)
        _can_be_repaired(given)
        _newest_pages(own)
        yield World(people, given | {"other_id": ended.pk}, own, other)


def _can_be_repaired(given: dict[str, Any]) -> None:
    """The finding offers what one press does."""
    from crawler.models import Finding

    fix = {"label": "Deactivate", "point_id": given["point_id"], "change": {"active": 0}}
    Finding.objects.filter(pk=given["finding_id"]).update(fixes=[fix])


def _newest_pages(document: Any) -> None:
    """The version of each page that counts: the one that was stored last."""
    from crawler.models import PageHead, PageVersion

    newest = dict(PageVersion.objects.filter(doc_id=document.pk).order_by("pk").values_list("url_key", "pk"))
    for key, version in newest.items():
        PageHead.objects.create(doc_id=document.pk, url_key=key, version_id=version)
