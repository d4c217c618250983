"""A program of each person: it sends a personal key and speaks JSON."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from clearinghouse.accounts.keys import api_keys
from clearinghouse.library.models import Document
from crawler.models import Run
from crawlpoints import services
from crawlpoints.models import CrawlPoint
from tests.crawler.runs.rows import make_run

ROOT = "https://quality.example.gov/measures/"


class Program:
    """GET, POST … under /api/v1/; the answer's JSON, with its status beside it."""

    def __init__(self, key: str) -> None:
        self.client = Client(headers={"Authorization": f"Bearer {key}"}, enforce_csrf_checks=True)

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        options = {} if body is None else {"data": body, "content_type": "application/json"}
        response = getattr(self.client, method.lower())(f"/api/v1/{path}", **options)
        return response.status_code, response.json()


@pytest.fixture
def program() -> Callable[[Any], Program]:
    return lambda user: Program(api_keys.create(user, "test")[1])


@pytest.fixture
def point(document: Document) -> CrawlPoint:
    return services.add_crawl_point(document, {"url": f"{ROOT}index.html", "root": ROOT, "depth": 2})[0]


@pytest.fixture
def run(document: Document, other_document: Document) -> Run:
    return make_run(document, other_document)
