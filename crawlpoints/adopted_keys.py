"""Owns: the keys of crawl points and exclude URLs that another program wrote. Does not: change anything of theirs.

A row gets its key when no live duplicate has it; duplicates keep none, and stay as they are. Called by: prepare.
"""

from typing import Any

from django.db import models

from clearinghouse.web.plurals import plural

from .models import CrawlPoint, CrawlPointLink, ExcludeUrl
from .services import exclude_key, point_key


def fill_keys() -> list[str]:
    """Safe to repeat; returns a sentence for each kind of row that got keys."""
    links = CrawlPointLink.objects.exclude(document=None).select_related("crawl_point")
    missing = links.filter(crawl_point__key=None).exclude(crawl_point__deleted=1).order_by("crawl_point_id")
    points = {
        link.crawl_point.pk: point_key(link.document_id, link.crawl_point.url, link.crawl_point.root)
        for link in missing
        if link.crawl_point
    }
    excludes = {row.pk: exclude_key(row.document_id, row.pattern) for row in ExcludeUrl.objects.filter(key=None)}
    counted = ((_fill(CrawlPoint, points), "crawl point"), (_fill(ExcludeUrl, excludes), "exclude URL"))
    return [f"{plural(count, what)} got a key" for count, what in counted if count]


def _fill(model: Any, keys: dict[int, str]) -> int:
    taken = set(model.everything.exclude(key=None).values_list("key", flat=True))
    filled = 0
    for pk, key in keys.items():
        if key not in taken:
            taken.add(key)
            # Not our update(): the row was not changed by anybody, so its version and its author stay.
            filled += models.QuerySet.update(model.everything.filter(pk=pk), key=key)
    return filled
