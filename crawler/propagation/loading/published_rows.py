"""Owns: what a stored page becomes on a target, column by column. Pure.

Called by: load, and by verify, which compares what a target holds with the same rows made anew.
"""

import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from .collect import Content

BY = "propagation"
VERSION_COLUMNS = (
    "published_id", "doc_id", "doc_crawl_page_id", "digest", "url_key", "crawl_page_url", "host",
    "crawl_page_type_id", "page_ext", "title_str", "headings", "metas", "anchors", "text", "language", "crawl_file",
    "last_modified", "crawled_at", "create_dt", "update_nm",
)  # fmt: skip
META_COLUMNS = ("published_meta_id", "published_id", "name_str", "content_str")
COMPARED = VERSION_COLUMNS[1:16]  # what verify reads back
METAS_PER_PAGE = 256
META_NAME = 512
HOST = 255

# The meta tags whose contents say what a page is about; the rest (viewport, generator …) only stand in their table.
_TELLING = ("description", "keyword", "subject", "title", "abstract", "summary", "topic", "author", "creator",
            "publisher", "coverage", "citation")  # fmt: skip


def version_row(published_id: int, content: Content, moment: Callable[[datetime], Any]) -> tuple[Any, ...]:
    version, page = content.version, content.page
    modified, found = _date(version.last_modified), moment(version.found_at)
    return (
        published_id, version.doc_id, page.page_id, page.digest, content.url_key, _clean(version.url),
        urlsplit(version.url).netloc[:HOST], version.type_id, version.extension, _clean(version.title),
        _clean(version.headings), telling(metas_of(version.metas)), _clean(page.anchors), _clean(version.text),
        version.language, content.body, moment(modified) if modified else None, found, found, BY,
    )  # fmt: skip


def meta_rows(published_id: int, content: Content) -> list[tuple[Any, ...]]:
    metas = metas_of(content.version.metas)[:METAS_PER_PAGE]
    first = published_id * METAS_PER_PAGE
    return [(first + at, published_id, name[:META_NAME], text) for at, (name, text) in enumerate(metas)]


@lru_cache(maxsize=512)  # a part of a load asks twice: for the row of a page, then for the rows of its metas
def metas_of(packed: str) -> tuple[tuple[str, str], ...]:
    return tuple((_clean(str(name)), _clean(str(text))) for name, text in json.loads(packed or "[]"))


def telling(metas: Iterable[tuple[str, str]]) -> str:
    """The contents for the index: of the metas that say what the page is about, each once."""
    return "\n".join(dict.fromkeys(text for name, text in metas if _tells(name)))


@lru_cache(maxsize=1024)
def _tells(name: str) -> bool:
    return any(word in name.lower() for word in _TELLING)


def _clean(text: str) -> str:
    """No server but SQLite stores NUL; the rule is the same for all."""
    return text.replace("\x00", "") if "\x00" in text else text


def _date(header: str) -> datetime | None:
    """Last-Modified, or nothing where it cannot be read."""
    try:
        found = parsedate_to_datetime(header) if header else None
    except (TypeError, ValueError):
        return None
    if found is None:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
