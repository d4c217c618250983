"""What the README and the tests promise about commands and settings."""

import ast
import re

from clearinghouse import env
from tests.house.tree import BASE, modules


def commands() -> list[str]:
    return sorted(name.rsplit(".", 1)[-1] for name in modules() if ".management.commands." in name)


def words_of_tests() -> set[str]:
    """The first word of every string in the tests: manage("crawl", …), call_command("prepare"), "runs --json"."""
    words = set()
    for module in modules("tests").values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.strip():
                words.add(node.value.split()[0])
    return words


def test_every_command_has_a_test_that_runs_it():
    words = words_of_tests()
    assert [name for name in commands() if name not in words] == []


def test_every_command_stands_in_the_readme():
    readme = (BASE / "README.md").read_text()
    assert [name for name in commands() if f"`{name}" not in readme and f"manage.py {name}" not in readme] == []


def test_the_readme_lists_exactly_the_settings_there_are():
    readme = (BASE / "README.md").read_text()
    rows = re.findall(r"^\| `CLEARINGHOUSE_(\w+)` \| (.*?) \| (.*) \|$", readme, re.M)
    expected = [(one.name, f"`{one.default}`" if one.default else "", one.meaning) for one in env.SETTINGS]
    assert rows == expected


def test_no_setting_is_read_that_is_not_in_the_table():
    names = {setting.name for setting in env.SETTINGS}
    read = set()
    for module in modules().values():
        read |= set(re.findall(r"env\.(?:text|flag|number|words)\(\s*\"(\w+)\"", module.text))
    assert read <= names
