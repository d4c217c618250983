"""Imports go downwards and never in a circle (style.md, habit 2)."""

from tests.house.tree import Module, circles, imports, modules

MODELS_MAY_USE = {
    "clearinghouse.database.records",
    "clearinghouse.database.aliases",
    "clearinghouse.columns",
    "clearinghouse.published.types",
}


# Packages and modules that answer people and programs; a module whose name ends in _views belongs to them.
SCREENS = {"views", "tabs", "api", "urls", "admin", "dialog", "panel", "tester", "documents", "all_points", "reports"}


def layer(name: str) -> int:
    """0 the site, 1 crawl points, 2 the crawler, 3 screens and admin of both."""
    if name.startswith("clearinghouse"):
        return 0
    return 3 if is_screen(name) else {"crawlpoints": 1, "crawler": 2}[name.partition(".")[0]]


def is_screen(name: str) -> bool:
    parts = name.split(".")
    return not SCREENS.isdisjoint(parts[1:]) or parts[-1].endswith("_views")


def is_model(name: str) -> bool:
    return "models" in name.split(".")


def edges() -> list[tuple[Module, str]]:
    return [(module, other) for module in modules().values() for other in sorted(imports(module))]


def test_nothing_imports_a_layer_above_its_own():
    upward = [f"{module.name} imports {other}" for module, other in edges() if layer(other) > layer(module.name)]
    assert not upward


def test_models_import_only_models_and_the_record():
    wrong = [
        f"{module.name} imports {other}"
        for module, other in edges()
        if is_model(module.name) and not is_model(other) and other not in MODELS_MAY_USE
    ]
    assert not wrong


def test_values_of_the_crawler_import_nothing_of_the_crawler():
    known = modules()
    inner = {name: [o for o in imports(known[name]) if o.startswith("crawler")] for name in ("crawler.values",)}
    assert inner == {"crawler.values": []}


def test_decisions_are_pure():
    """policy/ takes values and returns values: no models, no network, no clock of its own."""
    known = modules()
    policy = [module for name, module in known.items() if name.startswith("crawler.policy.")]
    wrong = [
        f"{module.name} imports {other}"
        for module in policy
        for other in imports(module)
        if is_model(other)
        or other.startswith(("crawler.fetch", "crawler.engine.storage", "crawler.engine.message_queue"))
    ]
    assert not wrong
    assert not [module.name for module in policy if "import django" in module.text or "from django" in module.text]


def test_nothing_imports_the_doors():
    """jobs and tick are where the flow begins; rooms do not know them."""
    doors = {"crawler.jobs", "crawler.upkeep.tick"}
    wrong = [f"{m.name} imports {o}" for m, o in edges() if o in doors and "management" not in m.name]
    assert not wrong


def test_no_modules_import_each_other_in_a_circle():
    graph = {name: imports(module) for name, module in modules().items()}
    assert circles(graph) == []
