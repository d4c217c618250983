"""Imports go downwards and never in a circle (style.md, habit 2)."""

from tests.house.tree import Module, circles, imports, modules

MODELS_MAY_USE = {
    "clearinghouse.records",
    "clearinghouse.databases",
    "clearinghouse.columns",
    "clearinghouse.published.types",
}


def layer(name: str) -> int:
    """0 the house, 1 crawl points, 2 the crawler, 3 screens and admin of both."""
    parts = name.split(".")
    if parts[0] == "clearinghouse":
        return 0
    if "screens" in parts or parts[-1] == "admin":
        return 3
    return {"crawlpoints": 1, "crawler": 2}[parts[0]]


def is_screen(name: str) -> bool:
    return "screens" in name.split(".")


def is_model(name: str) -> bool:
    return "models" in name.split(".")


def edges() -> list[tuple[Module, str]]:
    return [(module, other) for module in modules().values() for other in sorted(imports(module))]


def test_nothing_imports_a_layer_above_its_own():
    upward = [f"{module.name} imports {other}" for module, other in edges() if layer(other) > layer(module.name)]
    assert not upward


def test_nothing_imports_screens_but_urls_and_the_screens_beside_them():
    wrong = [
        f"{module.name} imports {other}"
        for module, other in edges()
        if is_screen(other)
        and module.name.rsplit(".", 1)[-1] not in ("urls", "admin")
        and module.name.split("screens")[0] != other.split("screens")[0]
    ]
    assert not wrong


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
        if is_model(other) or other.startswith(("crawler.fetch", "crawler.results", "crawler.message_queue"))
    ]
    assert not wrong
    assert not [module.name for module in policy if "import django" in module.text or "from django" in module.text]


def test_nothing_imports_the_doors():
    """jobs and tick are where the flow begins; rooms do not know them."""
    doors = {"crawler.jobs", "crawler.tick"}
    wrong = [f"{m.name} imports {o}" for m, o in edges() if o in doors and "management" not in m.name]
    assert not wrong


def test_no_modules_import_each_other_in_a_circle():
    graph = {name: imports(module) for name, module in modules().items()}
    assert circles(graph) == []
