"""A running run over three documents, of which the editor, the reader and the manager see two."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache

from clearinghouse.library import services
from clearinghouse.library.models import Document, Project
from crawler.models import Run
from crawler.runs.views import live_numbers
from tests.crawler.runs.rows import make_run


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Viewers share the numbers of a run for two seconds; these tests do not wait for them to pass."""
    monkeypatch.setattr(live_numbers, "SHARED_SECONDS", 0)
    yield
    cache.clear()  # the run of the next test may have the same key, and the same second


@pytest.fixture
def second_document(project: Project, editor: Any) -> Document:
    document = services.add_document("Patient safety indicators", project=project.name)
    services.assign(document, editor)
    return document


@pytest.fixture
def run(document: Document, second_document: Document, other_document: Document) -> Run:
    return make_run(document, second_document, other_document)


@pytest.fixture
def finished_run(document: Document, second_document: Document) -> Run:
    return make_run(document, second_document, state="finished", queued=0)
