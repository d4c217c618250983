"""Reads the patches, each with the test that must notice it: catalogue.txt (the crawler and propagation), safety.txt.

A name of safety.txt begins with its subject in brackets; the subject of the others follows from their file. A mutant
that takes away the defence against a threat of SECURITY.md ends with its number in brackets: [T14].
"""

import re
from pathlib import Path
from typing import NamedTuple


class Mutant(NamedTuple):
    name: str
    file: str
    test: str  # a node id, or a file and a word for pytest's -k: "file -k word"
    old: str  # stands exactly once in the file
    new: str

    @property
    def subject(self) -> str:
        if self.name.startswith("["):
            return self.name[1:].partition("]")[0]
        return "propagation" if "/propagation/" in self.file else "crawler"

    @property
    def threats(self) -> list[str]:
        return re.findall(r"\[(T\d+)\]", self.name)


def read(name: str) -> list[Mutant]:
    text = (Path(__file__).parent / name).read_text()
    return [_mutant(block.split("\n")) for block in text.split("\n== ")[1:]]


def _mutant(lines: list[str]) -> Mutant:
    file, test = lines[1].split(" : ")
    old = "\n".join(line[1:] for line in lines[2:] if line.startswith("-"))
    added = [line[1:] for line in lines[2:] if line.startswith("+")]
    if not added:
        old += "\n"
    return Mutant(lines[0], file, test, old, "\n".join(added))


MUTANTS = [*read("catalogue.txt"), *read("safety.txt")]
