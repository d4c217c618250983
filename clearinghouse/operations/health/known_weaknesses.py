"""Owns: the versions below which a weakness that concerns us is known, as this version of the product knows it. Pure.

It is no substitute for asking somebody who knows the newest (make audit does, where pip-audit is installed), but it
can be asked anywhere, by who cannot reach anybody. Does not: install, or look anything up.
Called by: make audit, the doctor.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import distributions
from typing import NamedTuple

from clearinghouse.web.plurals import plural

Version = tuple[int, ...]


class Floor(NamedTuple):
    """From this version on it is mended."""

    name: str
    least: str
    weakness: str


LIBRARIES = (
    Floor("brotli", "1.2.0", "CVE-2025-6176: a small answer unpacks without end"),
    Floor("cryptography", "46.0.7", "CVE-2026-39892"),
    Floor("django", "5.2.17", "CVE-2026-15920, CVE-2026-48588 and older: scripts in the admin, private pages kept"),
    Floor("django-rq", "2.5.0", "arguments of jobs are markup on the queue pages"),
    Floor("requests", "2.32.4", "CVE-2024-47081: passwords of .netrc go to strangers"),
    Floor("urllib3", "2.7.0", "CVE-2026-44432, CVE-2026-44431: limits of unpacking are passed by, headers go along"),
)
PYTHON = (
    Floor("Python", "3.11.8", "CVE-2024-0450: zip parts that overlap (documents are read in a bounded child)"),
    Floor("Python", "3.11.10", "CVE-2024-7592: cookies that take long to read"),
    Floor("Python", "3.11.10", "CVE-2024-4032: wrong tables of addresses (ours are in addresses/networks.py)"),
    Floor("Python", "3.11.14", "CVE-2025-6069: HTML that takes long to read (not read with it here)"),
)


def installed() -> dict[str, str]:
    """Name, in small letters, and version of all that is installed beside this Python."""
    return {one.metadata["Name"].lower(): one.version for one in distributions()}


def running() -> str:
    return ".".join(map(str, sys.version_info[:3]))


def weak(versions: Mapping[str, str], floors: Iterable[Floor] = LIBRARIES) -> list[str]:
    """A sentence for each that is older than it should be; what is not installed is not weak."""
    return list(_sentences(versions, floors))


def weak_python(version: str) -> list[str]:
    """The same for Python itself. Distributions mend it without giving it a new number: these are warnings."""
    return weak({"python": version}, PYTHON)


def _sentences(versions: Mapping[str, str], floors: Iterable[Floor]) -> Iterator[str]:
    for floor in floors:
        here = versions.get(floor.name.lower())
        if here is not None and _numbers(here) < _numbers(floor.least):
            yield f"{floor.name} {here}: {floor.weakness}; fixed in {floor.least}"


def _numbers(version: str) -> Version:
    """1.2.0 as numbers; what is no number ends it (5.0rc1 is 5.0)."""
    found = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        found.append(int(digits))
        if digits != part:
            break
    return (*found, *[0] * (4 - len(found)))


def main() -> int:
    """For make audit: 1 when a library is too old."""
    versions = installed()
    old = weak(versions)
    lines = [*old, *(f"warning: {line}" for line in weak_python(running()))]
    packages = plural(len(versions), "installed package")
    lines.append(f"{plural(len(LIBRARIES), 'known safe version')} of {packages} looked at, {len(old)} too old")
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())
