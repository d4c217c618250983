"""Exclude URLs that are not saved come into a snapshot by one way, which refuses what could not be saved (T41)."""

import ast

from tests.house.tree import modules

# Who makes a snapshot, or gives one other exclude URLs, and from what.
FROM_SAVED = {
    "crawler.launching.launch": "rows of exclude URLs",
    "crawler.values": "what a launch or a preview has stored",
    "crawler.word_index.parents_children": "a document without a snapshot: no exclude URLs",
    "crawler.engine.local_queue": "what a run is told to obey: the saved ones",
    "crawler.propagation.pinned_scope": "rows of exclude URLs",
    "crawler.runs.api": "the name of a field of an answer",
    "crawler.findings.decisions": "the numbers of rows it has just saved, for their Undo",
    "crawler.findings.exclude_folder_views": "the numbers of rows it has just saved, for their Undo",
    "crawlpoints.imports.short_import": "the numbers of rows it has just saved, for their Undo",
    "crawlpoints.panel.exclude_views": "the numbers of rows it has just saved, for their Undo",
    "crawlpoints.services": "what entries are checked against",
}
ONE_WAY = "crawler.preview.drafts"


def makers() -> set[str]:
    """The modules that call Snapshot(…), or anything with excludes=…"""
    return {
        module.name
        for module in modules("crawler", "crawlpoints").values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and (ast.unparse(node.func) == "Snapshot" or any(word.arg == "excludes" for word in node.keywords))
    }


def test_only_one_module_makes_a_snapshot_of_what_is_not_saved() -> None:
    assert makers() == {*FROM_SAVED, ONE_WAY}
