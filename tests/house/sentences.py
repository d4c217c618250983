"""Owns: every sentence the product may show, read from templates and Python: `python -m tests.house.sentences`.

A name in braces stands for what is filled in; {plural …} for a number with its word. Does not: judge.
"""

import ast
import re
import sys
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

from tests.house.tree import BASE, Module, modules

TEMPLATES = BASE / "templates"
# Read by whoever runs the machines, not by people at their screens.
_LOGS = re.compile(r"(?:^|\.)_?(?:log|logger)\.(?:debug|info|warning|error|exception|critical|log)$|^re\.|^RunSQL$")
_TEXT_ATTRIBUTE = re.compile(r"\b(?:title|alt|aria-label|placeholder|value|content|data-[a-z-]+)\s*=\s*\"([^\"]*)\"")
_COMMENT = re.compile(r"\{#.*?#\}|\{% comment.*?endcomment %\}|<!--.*?-->|<script\b.*?</script>", re.S)
_INLINE = re.compile(r"</?(?:a|b|strong|em|i|span|code|kbd|time|wbr|small|abbr|q|mark)\b[^>]*>", re.I)
_WORDS = re.compile(r"[A-Za-z]{2,}[,;:]? [\w“‘({]|[A-Za-z]{3,}[.!?]$|^[A-Z][a-z]{2,}$")
_SQL = re.compile(r"^\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|PRAGMA|WITH|MERGE|SET|LOCK|BEGIN|COPY)\b")


class Sentence(NamedTuple):
    place: str  # path:line
    text: str


def sentences() -> Iterator[Sentence]:
    yield from in_templates()
    for module in modules().values():
        yield from in_module(module)


def in_templates() -> Iterator[Sentence]:
    for path in sorted(TEMPLATES.rglob("*.html")) + sorted(TEMPLATES.rglob("*.txt")):
        name = str(path.relative_to(BASE))
        for line, text in _pieces(_plain(path.read_text())):
            if _WORDS.search(text):
                yield Sentence(f"{name}:{line}", text)


def _same_lines(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


def _plain(text: str) -> str:
    """A template without its comments; what is filled in stands in braces, and so do its conditions."""
    text = _COMMENT.sub(_same_lines, text)
    text = re.sub(r"\{\{ *([^}|]*?)\|plural:\"([^\"]*)\" *\}\}", r"{plural \2}", text)
    text = re.sub(r"\{\{ *([^}]*?) *\}\}", lambda found: "{" + found[1].replace('"', "'") + "}", text)
    text = re.sub(r"\{% *(?:el)?if ([^%]*?) *%\}", "⟨", text)
    text = re.sub(r"\{% *else *%\}", "|", text)
    text = re.sub(r"\{% *endif *%\}", "⟩", text)
    return re.sub(r"\{% *([^%]*?) *%\}", lambda found: "{" + found[1].replace('"', "'") + "}", text)


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    for found in _TEXT_ATTRIBUTE.finditer(text):
        yield text.count("\n", 0, found.start()) + 1, _squeezed(found[1])
    for found in re.finditer(r"\{[^{}]*?'([^'{}]*)'[^{}]*\}", text):
        for quoted in re.findall(r"'([^']*)'", found[0]):
            yield text.count("\n", 0, found.start()) + 1, _squeezed(quoted)
    line = 1
    for part in re.split(r"(<[^>]*>)", _INLINE.sub(_same_lines, text)):
        if not part.startswith("<"):
            yield line + part[: len(part) - len(part.lstrip())].count("\n"), _squeezed(part)
        line += part.count("\n")


def _squeezed(text: str) -> str:
    return unescape(" ".join(text.split()))


def in_module(module: Module) -> Iterator[Sentence]:
    name = str(module.path.relative_to(BASE))
    for line, text in _strings(module.tree):
        if _WORDS.search(text) and not _SQL.match(text):
            yield Sentence(f"{name}:{line}", text)


def _strings(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Call) and _LOGS.search(ast.unparse(node.func)):
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, " ".join(node.value.split())
    elif isinstance(node, ast.JoinedStr):
        yield node.lineno, " ".join("".join(map(_part, node.values)).split())
        for value in node.values:
            if isinstance(value, ast.FormattedValue):
                yield from _strings(value.value)
    else:
        for child in _without_docstring(node):
            yield from _strings(child)


def _without_docstring(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
            yield child


def _part(value: ast.expr) -> str:
    if isinstance(value, ast.Constant):
        return str(value.value)
    inner = value.value if isinstance(value, ast.FormattedValue) else value
    if isinstance(inner, ast.Call) and ast.unparse(inner.func) == "plural":
        return "{plural " + ast.unparse(inner.args[-1]).strip("'") + "}"
    return "{" + ast.unparse(inner) + "}"


if __name__ == "__main__":
    known: set[str] = set()
    for place, text in sentences():
        if text not in known:
            sys.stdout.write(f"{place}: {text}\n")
        known.add(text)
