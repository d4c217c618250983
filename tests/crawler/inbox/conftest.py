from collections.abc import Iterator
from typing import Any

import pytest

from tests.sites.receiver import Receiver, receiver


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as server:
        yield server


@pytest.fixture
def editor(editor: Any) -> Any:
    editor.email = "editor@clearinghouse.example"
    editor.save()
    return editor
