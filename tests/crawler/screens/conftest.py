"""A running run over three documents, of which the editor, the reader and the manager see two."""

from typing import Any

import pytest

from clearinghouse.library import services
from clearinghouse.library.models import Document, Project
from crawler.models import Run

from .rows import make_run


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
