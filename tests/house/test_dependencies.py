"""docs/dependencies.md lists what a server needs, as it is installed here and pinned in constraints.txt."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement

from clearinghouse.operations.health.known_weaknesses import LIBRARIES
from tests.house.tree import BASE

PAGE = BASE / "docs" / "dependencies.md"
SOMETIMES = ("| async-timeout ",)  # Debian's Python needs it, a newer one does not
HOW = "\ndocs/dependencies.md does not say what is installed. Its table is:\n\n"


def asked_for(requirements: list[str], extras: tuple[str, ...] = ("",)) -> dict[str, set[str]]:
    """Name -> extras, of those that count on this machine."""
    found: dict[str, set[str]] = {}
    for requirement in map(Requirement, requirements):
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in extras):
            found.setdefault(plain(requirement.name), set()).update(requirement.extras)
    return found


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed() -> dict[str, tuple[str, str]]:
    """Of all that running needs: name -> version, and who asks for it."""
    project = tomllib.loads((BASE / "pyproject.toml").read_text())["project"]["dependencies"]
    waiting = [(name, extras, "us") for name, extras in asked_for(project).items()]
    found: dict[str, tuple[str, str]] = {}
    while waiting:
        name, extras, by = waiting.pop(0)
        if name in found:
            continue
        try:
            one = distribution(name)
        except PackageNotFoundError:
            continue
        found[name] = (one.version, by)
        below = asked_for(one.requires or [], ("", *extras))
        waiting += [(other, theirs, name) for other, theirs in below.items()]
    return found


def table() -> list[str]:
    floors = {plain(floor.name): floor.least for floor in LIBRARIES}
    rows = [
        f"| {name} | {version} | {by} | {floors.get(name, '')} |" for name, (version, by) in sorted(needed().items())
    ]
    return ["| library | version | asked for by | known weaknesses below |", "| --- | --- | --- | --- |", *rows]


def test_the_page_lists_what_is_installed() -> None:
    page, here = PAGE.read_text().splitlines(), [row for row in table() if not row.startswith(SOMETIMES)]
    page = [line for line in page if line.startswith("|") and not line.startswith(SOMETIMES)]
    assert page == here, HOW + "\n".join(here)
    assert len(page) > 30


def test_what_is_installed_is_what_is_pinned() -> None:
    pins = re.findall(r"^([\w.-]+)==(.+)$", (BASE / "constraints.txt").read_text(), re.M)
    pinned = {plain(name): version for name, version in pins}
    assert {name: version for name, (version, _) in needed().items()}.items() <= pinned.items()
