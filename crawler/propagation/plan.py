"""Decisions of a propagation, pure: which steps, what changes on a target, whether that loses too much."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

DEVELOPMENT, PRIMARY, BACKUP = "development", "primary", "backup"
ORDER = (DEVELOPMENT, PRIMARY, BACKUP)

PLAN, LOAD, INDEX, VERIFY, SWITCH, FINISH = "plan", "load", "index", "verify", "switch", "finish"
PUBLIC_TO_BACKUP, PUBLIC_HOME = "public_to_backup", "public_home"

# Published rows one version can have, because its anchor texts may change. With 256 meta tags a page, the ids of
# published_meta stay in 63 bits up to version ids of 2^51 (versions are numbered in blocks of 2^28 an instance).
VARIANTS = 16
LOSS_GUARD = 0.20  # more than this share of a document's live pages needs a person


def shown_target(measured: Collection[str]) -> str:
    """Whose figures stand for a propagation: what the public will see, where that was measured."""
    return next((target for target in (PRIMARY, DEVELOPMENT, BACKUP) if target in measured), "")


class StepName(NamedTuple):
    name: str
    target: str = ""


class Wanted(NamedTuple):
    """A page of the desired generation. `published_id` is the id its row gets where that is free."""

    published_id: int
    digest: bytes


class Held(NamedTuple):
    """A page a target shows in its live generation."""

    published_id: int
    url_key: bytes
    digest: bytes


class Outcome(NamedTuple):
    """What becomes of a document on a target, in numbers of pages."""

    doc_id: int
    live: int
    after: int
    added: int
    changed: int
    removed: int
    relinked: int = 0  # of those that changed, the pages that say the same: others link to them in other words

    @property
    def asks(self) -> bool:
        """The loss guard: more than a fifth of a document's live pages would go."""
        return self.removed > LOSS_GUARD * self.live


@dataclass(slots=True)
class Change:
    """What one document of one target needs to become the desired generation."""

    doc_id: int
    live: int = 0
    after: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    relinked: int = 0
    opened: list[bytes] = field(default_factory=list)  # URL keys whose wanted version gets an interval
    closed: list[int] = field(default_factory=list)  # published ids whose interval ends

    def __bool__(self) -> bool:
        return bool(self.opened or self.closed)

    @property
    def outcome(self) -> Outcome:
        return Outcome(self.doc_id, self.live, self.after, self.added, self.changed, self.removed, self.relinked)


def steps(targets: Iterable[str]) -> list[StepName]:
    """The steps in the order of design §6: development, then primary with the public on backup, then backup."""
    chosen = set(targets)
    found = [StepName(PLAN)]
    for target in ORDER:
        if target not in chosen:
            continue
        work = [StepName(name, target) for name in (LOAD, INDEX, VERIFY, SWITCH)]
        if target == PRIMARY:
            work = [StepName(PUBLIC_TO_BACKUP), *work, StepName(PUBLIC_HOME)]
        found += work
    return [*found, StepName(FINISH)]


def change(doc_id: int, desired: Mapping[bytes, Wanted], held: Iterable[Held]) -> Change:
    """What differs between what a document should show on a target and what it shows there now."""
    result = Change(doc_id, after=len(desired))
    shown: set[bytes] = set()
    for row in held:
        if row.url_key in shown:  # never two versions of one page in one generation
            result.closed.append(row.published_id)
            continue
        shown.add(row.url_key)
        wanted = desired.get(row.url_key)
        if wanted is not None and wanted.digest == row.digest:
            continue
        result.closed.append(row.published_id)
        if wanted is None:
            result.removed += 1
        else:
            result.changed += 1
            result.relinked += wanted.published_id // VARIANTS == row.published_id // VARIANTS
            result.opened.append(row.url_key)
    new = [key for key in desired if key not in shown]
    result.added = len(new)
    result.opened += new
    result.live = len(shown)
    return result
