"""Small by rule (style.md, habit 8). The lists of exceptions are empty, and stay so."""

import ast

from tests.house.tree import functions, modules

MODULE_LINES, FUNCTION_LINES, ARGUMENTS = 400, 40, 6


def test_no_module_is_longer_than_400_lines():
    everything = modules() | modules("tests")
    assert [(name, module.lines) for name, module in everything.items() if module.lines > MODULE_LINES] == []


def test_no_function_is_longer_than_40_lines():
    long = [
        (f"{name}.{one.name}", one.end_lineno - one.lineno + 1)
        for name, module in modules().items()
        for one in functions(module)
        if one.end_lineno - one.lineno + 1 > FUNCTION_LINES
    ]
    assert long == []


def test_no_function_takes_more_than_6_arguments():
    many = [
        f"{name}.{one.name}"
        for name, module in modules().items()
        for one in functions(module)
        if count(one) > ARGUMENTS
    ]
    assert many == []


def count(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    arguments = function.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def test_every_function_is_annotated():
    bare = [
        f"{name}.{one.name}"
        for name, module in modules().items()
        for one in functions(module)
        if one.returns is None and one.name != "__init__"
    ]
    assert bare == []


def test_every_room_opens_with_what_it_owns():
    """A package with rooms in it says: owns, does not, called by."""
    silent = []
    for name, module in modules().items():
        depth = name.count(".")
        technical = {"management", "commands", "models", "templatetags", "apps", "urls", "admin", "wsgi"}
        if technical & set(name.split(".")) or depth == 0 or "screens" in name:
            continue
        if module.lines > 15 and not ast.get_docstring(module.tree):
            silent.append(name)
    assert silent == []
