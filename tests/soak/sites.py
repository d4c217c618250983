"""Owns: small sites that change from round to round, and the truth about them: what a crawl of each must find.

Does not: know the crawler; the truth is read from the pages themselves, by a walk along their links.
"""

import hashlib
import random
from dataclasses import dataclass, field

from tests.sites.graph import Page, html

SECTIONS, LEAVES = 4, 36  # of each site
DELAY = 0.3  # seconds an answer takes: long enough for something to be killed meanwhile
CHANGED = 3  # pages a round
HIDDEN, MORE = "hidden/", "more/"


@dataclass(frozen=True)
class Settings:
    """What is edited between two crawls of a document."""

    hidden: bool = False  # an exclude URL hides a folder
    more: bool = True  # its second crawl point is active


@dataclass
class Truth:
    """What one crawl finds: the bytes of each page, how many addresses fail and redirect."""

    pages: dict[str, bytes] = field(default_factory=dict)  # path -> digest
    failed: int = 0
    redirected: int = 0


class Changing:
    """One site, under a folder of its own; `pages` is the dictionary of the server."""

    def __init__(self, number: int, pages: dict[str, Page], seed: int) -> None:
        self.root, self._pages = f"/{number}/", pages
        self._random = random.Random(seed * 1000 + number)
        self._texts: dict[str, int] = {}  # path below the root -> how often its text has changed
        self._dead: list[str] = []  # still linked to, but gone
        self._next = LEAVES
        for n in range(LEAVES):
            self._texts[f"leaf{n}"] = 0
        for n in range(2):
            self._texts[f"{HIDDEN}{n}"] = self._texts[f"{MORE}{n}"] = 0
        self.write()

    def change(self, round_: int) -> None:
        """One page comes, one goes (every second time its links stay), some get other words."""
        leaves = [path for path in self._texts if path.startswith("leaf")]
        gone, *changed = self._random.sample(leaves, 1 + CHANGED)
        del self._texts[gone], self._pages[self.root + gone]
        self._dead = [gone] if round_ % 2 else []
        self._texts[f"leaf{self._next}"] = 0
        self._next += 1
        for path in changed:
            self._texts[path] += 1
        self.write()

    def write(self) -> None:
        leaves = [path for path in self._texts if path.startswith("leaf")] + self._dead
        links = {f"section{n}": leaves[n::SECTIONS] for n in range(SECTIONS)}
        self._put("", [*links, f"{HIDDEN}0", "old", "/elsewhere/"], 0)
        for name, its in links.items():
            self._put(name, [*its, ""], 0)
        for path, version in self._texts.items():
            other = path[:-1] + str(1 - int(path[-1])) if "/" in path else f"section{len(path) % SECTIONS}"
            self._put(path, [other, ""], version)
        self._pages[f"{self.root}old"] = Page(status=301, location=f"{self.root}section0", body=b"moved")

    def _put(self, path: str, links: list[str], version: int) -> None:
        words = random.Random(f"{path} {version}").choices(_WORDS, k=60)
        body = html(f"{path or 'Start'} of {self.root}", [_absolute(self.root, one) for one in links], " ".join(words))
        self._pages[self.root + path] = Page([_absolute(self.root, one) for one in links], body=body, delay=DELAY)

    def starts(self, settings: Settings) -> list[str]:
        return [self.root, *([f"{self.root}{MORE}0"] if settings.more else [])]

    def truth(self, settings: Settings) -> Truth:
        """A walk from the start pages, along links that begin with the root and are not excluded."""
        found, waiting, seen = Truth(), self.starts(settings), set(self.starts(settings))
        for path in waiting:  # grows while it is read
            page = self._pages.get(path)
            if page is None:
                found.failed += 1
                continue
            if page.location:
                found.redirected += 1
            else:
                found.pages[path] = hashlib.sha256(page.body).digest()
            for link in [page.location] if page.location else page.links:
                hidden = settings.hidden and link.startswith(self.root + HIDDEN)
                if link.startswith(self.root) and not hidden and link not in seen:
                    seen.add(link)
                    waiting.append(link)
        return found


def published(now: Truth, before: Truth | None, earlier: dict[str, bytes], hidden: str) -> dict[str, bytes]:
    """What a target must show: what the newest crawl stored, and what it missed for the first time (rule 16)."""
    kept = {path: earlier[path] for path in (before.pages if before else {}) if path in earlier}
    return {path: digest for path, digest in (kept | now.pages).items() if not hidden or not path.startswith(hidden)}


def _absolute(root: str, link: str) -> str:
    return link if link.startswith("/") else root + link


_WORDS = [f"{a}{b}{c}" for a in ("ba", "le", "mi", "no", "ra", "te") for b in ("dra", "ko", "su", "ti") for c in "rnsl"]
