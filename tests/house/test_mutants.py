"""A mutant that does not apply proves nothing: each finds its place exactly once, and the test it names is there."""

import re

import pytest

from tests.house.tree import BASE
from tests.mutants.catalogue import MUTANTS, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_every_mutant_finds_its_place_and_its_test(mutant: Mutant) -> None:
    assert (BASE / mutant.file).read_text().count(mutant.old) == 1
    file, _, name = mutant.test.partition(" -k ")[0].partition("::")
    defined = re.sub(r"\[.*", "", name)
    assert f"def {defined}" in (BASE / file).read_text()
