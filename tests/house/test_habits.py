"""Habits a machine can hold: no swallowed errors, nothing marked safe, no addresses of this or any machine."""

import ast
import re

from tests.house.tree import BASE, modules, project_files, text_of

BROAD_EXCEPTIONS = 3  # in the crawler only: around one page, around one excursion, around one step of the tick

# Text that may enter a page unescaped, with the reason; crawled text never may (threat T10).
MARKED_SAFE: dict[str, str] = {}

# Spelled in pieces, so that this file does not find itself.
REGISTRIES = ["pypi" + ".org", "python" + "hosted.org", "npmjs" + ".org", "npmjs" + ".com", "deb." + "debian.org"]
REGISTRIES += ["docker" + ".io", "gh" + "cr.io", "security." + "debian.org", "astral" + ".sh", "crates" + ".io"]
HOME_PATHS = re.compile(r"(?<![\w.])/(?:" + "root|home/" + r"\w+|" + "work/" + r"\w+|Users/\w+)/")


def test_broad_exceptions_stand_in_three_places_of_the_crawler_only():
    places = []
    for name, module in modules().items():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ExceptHandler) and _names(node) & {"", "Exception", "BaseException"}:
                if isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None:
                    continue  # it cleans up and lets the error go on
                places.append(f"{name}:{node.lineno}")
    assert len(places) <= BROAD_EXCEPTIONS, places
    assert all(place.startswith("crawler.") for place in places), places


def _names(handler: ast.ExceptHandler) -> set[str]:
    if handler.type is None:
        return {""}
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {ast.unparse(kind) for kind in kinds}


def test_text_is_marked_safe_only_where_it_is_written_out():
    """mark_safe("<br>") is markup of ours; mark_safe(anything computed) may be somebody else's."""
    found = []
    for name, module in modules().items():
        for node in ast.walk(module.tree):
            if _marks_safe(node) and not all(isinstance(argument, ast.Constant) for argument in node.args):
                found.append(f"{name}:{node.lineno}: {ast.unparse(node)[:80]}")
    assert [place for place in found if place.split(":")[0] not in MARKED_SAFE] == []


def _marks_safe(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("mark_safe", "SafeString")


def test_templates_escape_everything_and_views_check_every_post():
    pattern = re.compile(r"\|\s*safe(?:seq)?\b|autoescape\s+off|csrf_exempt")
    found = [
        str(path.relative_to(BASE))
        for path in project_files()
        if path.suffix in (".py", ".html") and "tests" not in path.parts and pattern.search(text_of(path))
    ]
    assert found == []


def test_no_registry_is_named_anywhere():
    named = [
        f"{path.relative_to(BASE)}: {host}" for path in project_files() for host in REGISTRIES if host in text_of(path)
    ]
    assert named == []


def test_no_path_of_a_machine_stands_in_a_file():
    found = []
    for path in project_files():
        for number, line in enumerate(text_of(path).splitlines(), start=1):
            if HOME_PATHS.search(line):
                found.append(f"{path.relative_to(BASE)}:{number}: {line.strip()[:80]}")
    assert found == []


def test_there_is_no_room_called_utils():
    assert [name for name in modules() if name.split(".")[-1] in ("utils", "util", "helpers", "misc", "common")] == []


def test_no_signal_drives_the_flow():
    """Django's signals hide who calls whom; only the migration hooks, which have no other door, use them."""
    pattern = re.compile(r"\b(post_save|pre_save|post_delete|pre_delete|m2m_changed)\b|django\.dispatch")
    assert [name for name, module in modules().items() if pattern.search(module.text)] == []
