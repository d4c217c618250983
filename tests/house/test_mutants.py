"""A mutant that does not apply proves nothing: each finds its place exactly once, and the test it names is there.

Each threat of SECURITY.md has one that takes its defence away, and the test that notices stands in the threat's row.
"""

import re

import pytest

from tests.house.tree import BASE
from tests.mutants.catalogue import MUTANTS, Mutant
from tests.security.test_every_threat import rows


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_every_mutant_finds_its_place_and_its_test(mutant: Mutant) -> None:
    assert (BASE / mutant.file).read_text().count(mutant.old) == 1
    file, _, name = mutant.test.partition(" -k ")[0].partition("::")
    defined = re.sub(r"\[.*", "", name)
    assert f"def {defined}" in (BASE / file).read_text()


def test_every_threat_has_a_mutant() -> None:
    defeated = {threat for mutant in MUTANTS for threat in mutant.threats}
    assert [f"T{number}" for number, *_ in rows() if f"T{number}" not in defeated] == []


def test_the_test_that_notices_stands_in_the_row_of_the_threat() -> None:
    cells = {f"T{number}": cell for number, _, _, cell in rows()}
    strangers = [
        (mutant.name, mutant.test)
        for mutant in MUTANTS
        for threat in mutant.threats
        if f"`{mutant.test.partition('[')[0]}`" not in cells[threat]
    ]
    assert strangers == []
