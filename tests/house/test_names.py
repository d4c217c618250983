"""A name is used once, so that whoever reads or searches it knows which thing is meant; a folder can be looked over."""

import ast
from collections import Counter, defaultdict
from pathlib import PurePath

from tests.house.tree import modules

# What a Django developer expects in a package; commands and the modules of models/ are told apart by their folders.
CONVENTIONAL = {
    "models", "services", "queries", "forms", "tables", "views", "urls", "api", "admin", "apps", "types", "errors",
    "jobs", "context", "states", "__init__", "__main__",
}  # fmt: skip
MODULES_OF_A_FOLDER = 15


def test_a_class_name_is_used_once() -> None:
    places = defaultdict(list)
    for name, module in modules().items():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and "management" not in name:
                places[node.name].append(name)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_a_module_name_is_used_once() -> None:
    paths = [PurePath(module.path) for module in modules().values()]
    told_apart = [path for path in paths if path.parent.name not in ("commands", "models")]
    counted = Counter(path.stem for path in told_apart)
    assert [str(path) for path in told_apart if counted[path.stem] > 1 and path.stem not in CONVENTIONAL] == []


def test_no_folder_holds_more_than_15_modules() -> None:
    folders = Counter(str(module.path.parent) for module in modules().values() if not module.is_package)
    assert [folder for folder, count in folders.items() if count > MODULES_OF_A_FOLDER] == []
