"""Apache POI's test documents, with what its own tests say of their words."""

from pathlib import Path

from tests.suites import Result
from tests.suites._java_tests import judge

NAME = "Apache POI: Word, Excel, PowerPoint"
FOLDER = "poi"
_BY_DESIGN: dict[str, str] = {}


def run(folder: Path) -> Result:
    result = Result()
    judge(folder, _BY_DESIGN, result)
    return result
