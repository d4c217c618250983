"""What the papers name exists: paths, modules, commands, functions, other pages."""

import re
from pathlib import Path

import pytest

from tests.house.test_promises import commands
from tests.house.tree import BASE, modules

NAMES = ("architecture", "glossary", "decisions", "administering", "crawl-points", "deploying")
PAGES = [BASE / "docs" / f"{name}.md" for name in NAMES]
OF_LIBRARIES = {"createsuperuser", "check", "rqworker"}
QUESTIONS = ("Where is a redirect judged?", "Where is a page stored?", "Where is the public switched?")
_PATH = re.compile(r"`((?:clearinghouse|crawlpoints|crawler|deploy|docs|templates|static|tests)/[\w./@-]*)`")
_MODULE = re.compile(r"`((?:clearinghouse|crawlpoints|crawler)\.[\w.]+)`")
_FUNCTION = re.compile(r"`(\w+(?:\.\w+)?)` in `([\w/]+\.py)`")
_HEADING = re.compile(r"^#+ (.+)$", re.M)


def test_architecture_is_one_page_and_answers_three_questions():
    text = (BASE / "docs" / "architecture.md").read_text()
    assert len(text.splitlines()) <= 100
    for question in QUESTIONS:
        assert text.count(f"**{question}**") == 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_paper_names_exists(page: Path):
    text = page.read_text()
    assert [path for path in _PATH.findall(text) if not (BASE / path).exists()] == []
    assert [name for name in _MODULE.findall(text) if name not in modules()] == []
    assert set(re.findall(r"manage\.py ([a-z_]+)", text)) <= {*commands(), *OF_LIBRARIES}
    for name, path in _FUNCTION.findall(text):
        defined = rf"^ *(?:def|class) {name.rpartition('.')[2]}\b"
        assert re.search(defined, (BASE / path).read_text(), re.M), f"{name} in {path}"


def test_the_changelog_has_each_version_once_newest_first():
    found = re.findall(r"^## (\d+)\.(\d+)\.(\d+)", (BASE / "CHANGELOG.md").read_text(), re.M)
    versions = [tuple(map(int, one)) for one in found]
    assert versions and versions == sorted(set(versions), reverse=True)


@pytest.mark.parametrize("page", [BASE / "README.md", *PAGES], ids=lambda page: page.stem)
def test_every_link_leads_somewhere(page: Path):
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        place, _, anchor = target.partition("#")
        file = page.parent / place if place else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    return {re.sub(r"[^\w -]", "", one).strip().lower().replace(" ", "-") for one in _HEADING.findall(page.read_text())}
