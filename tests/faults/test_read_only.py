"""Databases that nobody may write to (fault A16): a disk that was mounted read-only, for real, in a namespace."""

import subprocess
from pathlib import Path

import pytest

from tests.faults import namespace
from tests.faults.house import BASE, with_document
from tests.proves import proves
from tests.requirements import need

_SHUT = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'


@proves("A16")
@pytest.mark.parametrize("words", [("crawl",), ("tick", "--once"), ("rqworker", "crawl", "--burst")])
def test_what_is_started_on_a_disk_that_is_read_only_refuses_in_one_line_that_names_the_place(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    need("namespaces", namespace.possible(), "no namespaces can be made here (root, or user namespaces)")
    house = with_document(tmp_path / "house", "http://127.0.0.1:9/")
    done = subprocess.run(
        [*namespace.ENTER, "sh", "-c", _SHUT, "sh", str(house.var), *house.command(*words)],
        cwd=BASE, env=house.environment, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    told = done.stderr.strip().splitlines()
    assert done.returncode == 1 and done.stdout == ""
    assert len(told) == 1 and str(house.var) in told[0] and "written" in told[0], done.stderr
