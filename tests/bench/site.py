"""A site of any size that is the same every time: tests.bench.site PAGES FOLDER.

Pages of about 23 KB with 60 links each: a binary tree, so that every page is reached from /d0/p0.html, and cross
links in every spelling. Words follow a Zipf curve, so that an index meets what it meets in real text.
"""

import random
import sys
from pathlib import Path

SYLLABLES = (
    "al", "be", "cor", "dan", "el", "fi", "gra", "hom", "in", "jus", "kel", "lo", "mer", "nor", "op", "pri", "qua",
    "ras", "ten", "ur", "vol", "wis", "xen", "yor", "zul",
)  # fmt: skip
LINKS = 60
FOLDERS = 100


class Words:
    def __init__(self, rnd: random.Random) -> None:
        self._rnd = rnd
        vocabulary = sorted({"".join(rnd.choices(SYLLABLES, k=rnd.randint(2, 4))) for _ in range(30_000)})
        rnd.shuffle(vocabulary)
        self._pool = rnd.choices(vocabulary, [1 / (rank + 1) for rank in range(len(vocabulary))], k=300_000)

    def some(self, count: int) -> str:
        start = self._rnd.randrange(len(self._pool) - count)
        return " ".join(self._pool[start : start + count])


def path_of(number: int) -> str:
    return f"d{number % FOLDERS}/p{number}.html"


def href(number: int) -> str:
    spellings = (f"/{path_of(number)}", f"../{path_of(number)}", f"/./{path_of(number)}#s{number % 5}")
    return spellings[number % 3]


def page(number: int, pages: int, words: Words, rnd: random.Random) -> str:
    targets = [n for n in (2 * number + 1, 2 * number + 2) if n < pages]
    targets += [rnd.randrange(pages) for _ in range(LINKS - len(targets))]
    metas = "".join(
        f'<meta name="{name}" content="{words.some(12)}">'
        for name in ("description", "keywords", "author", "dc.title", "dc.subject", "dc.date")
    )
    navigation = "".join(f'<li class="item"><a href="{href(n)}">{words.some(3)}</a></li>' for n in targets[:20])
    footer = " ".join(f'<a href="{href(n)}">{words.some(2)}</a>' for n in targets[20:])
    sections = "".join(
        f"<section id=s{part}><h2>{words.some(5)}</h2><p>{words.some(170)}</p>"
        f"<table><tr><td>{words.some(8)}</td><td>{words.some(8)}</td></tr></table></section>"
        for part in range(max(1, int(9 * rnd.lognormvariate(0, 0.7))))
    )
    script = "function toggle(a, b) { return a < b && b > a; }\n" * 20
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Page {number} {words.some(4)}</title>'
        f"{metas}<script>{script}</script></head><body><nav><ul>{navigation}</ul></nav><main>{sections}</main>"
        f"<footer>{footer}</footer></body></html>"
    )


def write(pages: int, folder: Path, seed: int = 11) -> None:
    rnd = random.Random(seed)
    words = Words(rnd)
    for number in range(pages):
        file = folder / path_of(number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page(number, pages, words, rnd))


if __name__ == "__main__":
    write(int(sys.argv[1]), Path(sys.argv[2]))
