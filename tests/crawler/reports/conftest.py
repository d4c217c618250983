"""Two finished runs that were looked through: the newer one over two documents of the project and a foreign one."""

from typing import Any

import pytest

from clearinghouse.library import services
from clearinghouse.library.models import Document, Project
from crawler.findings.diagnosis import diagnose_due
from crawler.models import Excursion, Run
from tests.crawler.runs.rows import make_run


@pytest.fixture
def second_document(project: Project, editor: Any) -> Document:
    document = services.add_document("Patient safety indicators", project=project.name)
    services.assign(document, editor)
    return document


@pytest.fixture
def runs(document: Document, second_document: Document, other_document: Document) -> list[Run]:
    first = make_run(document, state="finished", queued=0)
    second = make_run(document, second_document, other_document, state="finished", queued=0)
    for excursion in Excursion.objects.all():
        change = {"new": 3, "changed": 2, "unchanged": 1, "moved": 0, "gone": 1}
        excursion.tallies |= {"change": change}
        excursion.save(update_fields=["tallies"])
    diagnose_due()
    return [first, second]
