"""The process that reads documents: replaced when it is in trouble, gone when nobody needs it."""

from pathlib import Path

import pytest

from crawler.extract.office import document_reader
from tests.extract.test_extract import PDF, read
from tests.proves import proves


@proves("E18")
def test_a_child_in_trouble_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_reader, "SECONDS", 0.0)
    assert read(PDF, "application/pdf").flags == ["no_text"]
    monkeypatch.undo()
    assert read(PDF, "application/pdf").text == "Hello PDF"
    child = document_reader._child
    assert child is not None
    child._process.kill()
    child._process.wait()
    assert read(PDF, "application/pdf").flags == ["no_text"]
    assert read(PDF, "application/pdf").text == "Hello PDF"


def test_the_child_ends_with_its_parent() -> None:
    read(PDF, "application/pdf")
    child = document_reader._child
    assert child is not None
    document_reader.close()
    assert not Path(f"/proc/{child._process.pid}").exists()
