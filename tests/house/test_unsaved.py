"""Exclude URLs that are not saved come into a snapshot by one way, which refuses what could not be saved (T41)."""

import ast

from tests.house.tree import modules

# Who makes a snapshot, or gives one other exclude URLs, and from what.
FROM_SAVED = {
    "crawler.intake": "rows of exclude URLs",
    "crawler.values": "what a launch or a preview has stored",
    "crawler.index.links": "a document without a snapshot: no exclude URLs",
    "crawler.served": "what a run is told to obey: the saved ones",
    "crawler.propagation.scope": "rows of exclude URLs",
    "crawler.screens.api.result_shapes": "the name of a field of an answer",
    "crawler.findings.decisions": "the numbers of rows it has just saved, for their Undo",
    "crawler.screens.pruning": "the numbers of rows it has just saved, for their Undo",
    "crawlpoints.importing": "the numbers of rows it has just saved, for their Undo",
    "crawlpoints.screens.excludes": "the numbers of rows it has just saved, for their Undo",
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
