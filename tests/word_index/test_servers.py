"""The same on real servers and by real commands: files of SQLite, and a throw-away PostgreSQL."""

import subprocess
import sys

from crawler.word_index.words_in_text import indexed
from tests.flow.house import BASE
from tests.propagation.test_servers import Servers


def counted(servers: Servers, target: str = "primary") -> dict[str, int]:
    connection = servers.connect(target)
    try:
        return dict(connection.execute("SELECT word, pages FROM lexicon WHERE pages <> 0").fetchall())
    finally:
        connection.close()


def numbered(servers: Servers) -> dict[str, int]:
    connection = servers.connect("primary")
    try:
        return dict(connection.execute("SELECT word, word_id FROM lexicon").fetchall())
    finally:
        connection.close()


def by_hand(texts: dict[str, str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for text in texts.values():
        for word in indexed(text):
            found[word] = found.get(word, 0) + 1
    return found


def test_counts_follow_generations_a_rollback_and_a_rebuild(servers, tmp_path):
    first = servers.crawl(1)
    servers.house.manage("propagate")
    assert counted(servers) == counted(servers, "backup") == by_hand(first)
    second = servers.crawl(2)
    servers.house.manage("propagate")
    assert counted(servers) == by_hand(second)
    ids = numbered(servers)
    servers.house.manage("rollback")
    found = servers.house.manage("word", "Handover", "--limit", "7")
    assert (found["pages"], len(found["postings"])) == (by_hand(first)["handover"], 7)
    assert all(row["positions"] == [6] for row in found["postings"])
    assert counted(servers) == by_hand(first)
    servers.house.manage("rebuild_index")
    assert counted(servers) == by_hand(first)
    assert numbered(servers) == ids
    page = servers.house.manage("page", found["postings"][0]["url"])
    assert {one["word"] for one in page["words"]} == indexed(first[page["url"]])
    written = servers.house.manage("export_index", tmp_path / "index.txt")
    assert (written["pages"], written["words"]) == (len(first), len(by_hand(first)))


def test_both_directions_agree(servers):
    done = subprocess.run(
        [sys.executable, "-m", "tests.index.agreement"],
        cwd=BASE, env=servers.house.env, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 30
