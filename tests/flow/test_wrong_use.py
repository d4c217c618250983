"""Wrong use of a command: exit code 2, nothing on standard output, one clear line on standard error."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command

from clearinghouse.addresses import networks
from clearinghouse.operations.command_base import FAILED, WRONG_USE
from crawler.models import Run
from tests.crawler.conftest import make_document
from tests.flow.house import House


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["nosuch"], "There is no command 'nosuch'; see manage.py help"),
        (["add_document"], "the following arguments are required: TITLE; see manage.py add_document --help"),
        (["crawl", "--doc", "x"], "argument --doc: 'x' is not a whole number of 1 or more; see manage.py crawl --help"),
        (
            ["crawl", "--instances", "0"],
            "argument --instances: '0' is not a whole number from 1 to 64; see manage.py crawl --help",
        ),
        (
            ["crawl", "--instances", "10000"],
            "argument --instances: '10000' is not a whole number from 1 to 64; see manage.py crawl --help",
        ),
        (["runs", "--limit", "-1"],
         "argument --limit: '-1' is not a whole number of 1 or more; see manage.py runs --help"),
        (["search", "a", "--limit", "x"],
         "argument --limit: 'x' is not a whole number of 0 or more; see manage.py search --help"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_told_in_one_line(house: House, words: list[str], line: str) -> None:
    done = house.run(*words, "--json")
    assert (done.returncode, done.stdout, done.stderr) == (WRONG_USE, "", line + "\n")


@pytest.mark.sqlite
@pytest.mark.parametrize("words", [["search", "a"], ["word", "a"], ["page", "1"], ["rollback"], ["rebuild_index"]])
def test_a_damaged_database_is_told_in_one_line(house: House, words: list[str]) -> None:
    (house.folder / "primary.sqlite3").write_bytes(b"nonsense" * 1000)
    done = house.run(*words)
    line = "A database failed: file is not a database. To see which, and what to do: manage.py doctor\n"
    assert (done.returncode, done.stderr) == (FAILED, line)


@pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("crawl", "--doc", "DOC", "--doc", "99999"), "There is no document 99999."),
        (("launch", "--doc", "DOC", "--doc", "99999"), "There is no document 99999."),
        (("broken_links", "--doc", "99999"), "There is no document 99999."),
        (("propagate", "--accept-loss", "99999"), "There is no document 99999."),
        (("propagate", "--run", "99999"), "There is no run 99999."),
        (
            ("explain", "DOC", "http://127.0.0.1:1/", "--found-on", "nonsense"),
            "--found-on takes the address of a page; 'nonsense' is not one.",
        ),
        (("page", " "), "Name the page by its address or its id."),
    ],
)
def test_a_number_that_names_nothing_is_wrong_use(words: tuple[str, ...], sentence: str) -> None:
    document = make_document({"url": "http://127.0.0.1:1/"})
    with pytest.raises(CommandError) as refused:
        call_command(*[str(document.pk) if word == "DOC" else word for word in words])
    assert (str(refused.value), refused.value.returncode) == (sentence, WRONG_USE)


@pytest.mark.django_db(databases=["default", "webcrawl"])
def test_a_setting_that_cannot_be_meant_leaves_no_run_behind(monkeypatch: Any) -> None:
    document = make_document({"url": "http://127.0.0.1:1/"})
    monkeypatch.setenv("CLEARINGHOUSE_ALLOWED_NETWORKS", "nonsense")
    networks.forget_settings()
    try:
        for command in ("crawl", "launch"):
            with pytest.raises(SystemExit, match="CLEARINGHOUSE_ALLOWED_NETWORKS"):
                call_command(command, "--doc", str(document.pk))
    finally:
        monkeypatch.undo()
        networks.forget_settings()
    assert not Run.objects.exists()
