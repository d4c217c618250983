"""Owns: reading the project's own source: modules, imports, functions. Does not: judge. Called by: tests/house."""

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

BASE = Path(__file__).resolve().parents[2]
PACKAGES = ("clearinghouse", "crawlpoints", "crawler")


@dataclass(frozen=True)
class Module:
    name: str
    path: Path
    is_package: bool
    text: str = field(repr=False)

    @property
    def tree(self) -> ast.Module:
        return _tree(self.path)

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def modules(*folders: str) -> dict[str, Module]:
    """Every module of the product (or of these folders), by dotted name; migrations are Django's."""
    result = {}
    for folder in folders or PACKAGES:
        for path in sorted((BASE / folder).rglob("*.py")):
            if "migrations" in path.parts:
                continue
            parts = path.relative_to(BASE).with_suffix("").parts
            package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if package else parts)
            result[name] = Module(name, path, package, path.read_text())
    return result


def imports(module: Module) -> set[str]:
    """The project's modules this one imports, also inside functions; not what is only for type checkers."""
    known = modules()
    found = set()
    for node in _runtime(module.tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in known}
        elif isinstance(node, ast.ImportFrom):
            base = _base(module, node)
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                found |= {inner} if inner in known else {base} & known.keys()
    return found - {module.name}


def _base(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    parts = parts[: len(parts) - node.level + (1 if module.is_package else 0)]
    return ".".join([*parts, *([node.module] if node.module else [])])


def _runtime(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        yield from _runtime(child)


def functions(module: Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other in a circle (Tarjan)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        number[name] = low[name] = len(number)
        stack.append(name)
        for other in sorted(graph.get(name, ())):
            if other not in number:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], number[other])
        if low[name] == number[name]:
            place = stack.index(name)
            group = stack[place:]
            del stack[place:]
            if len(group) > 1:
                found.append(sorted(group))

    for name in sorted(graph):
        if name not in number:
            visit(name)
    return found


@cache
def project_files() -> list[Path]:
    """What is tracked, or would be at the next commit."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listing, cwd=BASE, capture_output=True, text=True, check=True).stdout.split("\0")
    return [BASE / name for name in names if name and (BASE / name).is_file()]


def text_of(path: Path) -> str:
    """The text of a file; nothing for pictures and other binaries."""
    try:
        return path.read_text()
    except UnicodeDecodeError:
        return ""
