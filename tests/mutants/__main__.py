"""make mutants: each patch in a copy of the tree, its test run there, the table printed."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .catalogue import MUTANTS, Mutant

BASE = Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns(".venv", ".git", "var", "__pycache__", "*.egg-info", ".*_cache", "node_modules")
SECONDS = 150  # a mutant that runs for ever is caught as well
CAUGHT, SURVIVED, STALE = "caught", "SURVIVED", "DOES NOT APPLY"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("-k", default="", metavar="WORD", help="only those with it in [subject], name or file")
    parser.add_argument("--part", default="1/1", metavar="N/M", help="the first, second … of M equal parts of these")
    given = parser.parse_args()
    word, (part, parts) = given.k.lower(), map(int, given.part.split("/"))
    chosen = [one for one in MUTANTS if word in f"[{one.subject}] {one.name} {one.file}".lower()][part - 1 :: parts]
    counts = {CAUGHT: 0, SURVIVED: 0, STALE: 0}
    with tree() as copy:
        sound = tests_pass(copy, chosen)
        for mutant in chosen:
            began = time.monotonic()
            verdict = try_out(copy, mutant)
            counts[verdict] += 1
            name, test = mutant.name, mutant.test.rpartition("/")[2]
            print(f"{name:<58} | {mutant.file:<28} | {verdict} | {test} {time.monotonic() - began:.0f} s", flush=True)
    subjects = Counter(mutant.subject for mutant in chosen)
    print(", ".join(f"{subject} {count}" for subject, count in subjects.items()))
    print(f"{len(chosen)} mutants: {counts[CAUGHT]} caught, {counts[SURVIVED]} survived, {counts[STALE]} do not apply")
    if not sound:
        print("The named tests do not all pass without a mutant: the table proves nothing.")
    return 0 if sound and counts[CAUGHT] == len(chosen) else 1


@contextmanager
def tree() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(BASE, copy, ignore=LEFT_OUT, symlinks=True)
        yield copy


def tests_pass(copy: Path, mutants: list[Mutant]) -> bool:
    """Without a mutant every named test must pass."""
    named = dict.fromkeys(mutant.test for mutant in mutants)
    plain = [test for test in named if " -k " not in test]
    by_word = [test.split(" -k ") for test in named if " -k " in test]
    return (not plain or run(copy, plain, seconds=900) == 0) and all(
        run(copy, [file, "-k", word]) == 0 for file, word in by_word
    )


def try_out(copy: Path, mutant: Mutant) -> str:
    path = copy / mutant.file
    text = path.read_text() if path.exists() else ""
    if text.count(mutant.old) != 1:
        return STALE
    path.write_text(text.replace(mutant.old, mutant.new))
    try:
        file, _, word = mutant.test.partition(" -k ")
        code = run(copy, [file, *(("-k", word) if word else ())])
    finally:
        path.write_text(text)
    return CAUGHT if code == 1 else SURVIVED


def run(copy: Path, tests: list[str], seconds: int = SECONDS) -> int:
    """pytest's exit code: 0 all passed, 1 some failed; more than that is no verdict on the mutant."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("CLEARINGHOUSE_")}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"  # a second mutant of the same size within the second is seen
    command = [sys.executable, "-m", "pytest", "-x", "-q", *tests]
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return 1
    if done.returncode > 1 or (done.returncode and seconds > SECONDS):
        print(done.stdout[-3000:], done.stderr[-1000:])
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
