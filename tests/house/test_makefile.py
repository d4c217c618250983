"""The Makefile holds each target once, and each command it lists."""

import re
import subprocess

from tests.house.tree import BASE


def test_each_target_has_one_recipe() -> None:
    done = subprocess.run(["make", "-n", "help"], cwd=BASE, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_is_listed_is_what_can_be_asked_for() -> None:
    text = (BASE / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert phony
    assert set(phony[1].split()) == set(re.findall(r"^([a-z-]+):.*## ", text, re.MULTILINE))
