"""manage.py backup and restore: one moment of four databases, taken while a crawl writes; refuses what is not whole."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from crawler.upkeep.backup import restore
from tests.faults.house import House as Crawling
from tests.flow.conftest import fresh_house
from tests.flow.house import House, until
from tests.postgres import Server, postgres
from tests.security.canary import CANARY, found_in
from tests.sites.graph import Page, Site, serve

__all__ = ["postgres"]
PAGES = 300
FILES = {"webcrawl.sqlite3", "default.sqlite3", "primary.sqlite3", "backup.sqlite3", "keys.json", "manifest.json"}


@contextmanager
def slow_site() -> Iterator[Site]:
    pages = {"/m/": Page([f"/m/{number}" for number in range(PAGES)])}
    pages |= {f"/m/{number}": Page([f"/m/{number + 1}"], delay=0.25) for number in range(PAGES)}
    with serve(pages) as site:
        yield site


def test_a_folder_that_cannot_be_made_is_named_in_a_sentence(prepared_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = Crawling(prepared_folder).start("backup", str(tmp_path / "file" / "monday"))
    _, complained = done.communicate(timeout=60)
    assert complained == f"No backup was taken. {tmp_path}/file/monday.partial cannot be written: Not a directory\n"


def test_a_backup_of_a_running_crawl_goes_on_elsewhere_to_the_exact_result(
    prepared_folder: Path, tmp_path: Path
) -> None:
    here = Crawling(shutil.copytree(prepared_folder, tmp_path / "here"))
    there = Crawling(tmp_path / "there")
    with slow_site() as site:
        here.manage("add_document", "Measures")
        here.manage("add_crawl_point", "1", site.url("/m/"), "--depth", "9")
        crawl = here.start("crawl", "--speed", "fast", "--json")
        until(lambda: sum(site.requests.values()) > 40, "the crawl is on its way")
        saved = here.manage("backup", str(tmp_path / "saved"))
        assert saved["exact"] and crawl.poll() is None, "the crawl went on beside it"

        there.manage("restore", str(tmp_path / "saved"))
        [(found, crawled)] = there.rows("SELECT found, crawled FROM excursion")
        assert 0 < crawled < PAGES < found, "in the middle"
        assert there.manage("check_ledger")["faults"] == {}
        resumed = there.manage("crawl", "--resume", "last", "--speed", "fast")
        printed, _ = crawl.communicate(timeout=60)
    original = json.loads(printed)
    for result in (original, resumed):
        assert (result["state"], result["crawled"], result["found"]) == ("finished", PAGES + 1, PAGES + 2)
        assert result["failed"] == {"http_4xx": 1}


@pytest.fixture(scope="module")
def kept(prepared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[House, Path]]:
    """A house with a document, and a backup of it; the tests are in the order of what they do to it."""
    with fresh_house(prepared_folder) as house:
        house.manage("add_document", "Kept")
        house.manage("add_crawl_point", 1, f"{house.site}/", "--auth", "basic", "--user", "reader",
                     "--password-env", "SITE_PASSWORD", SITE_PASSWORD=CANARY)  # fmt: skip
        saved = tmp_path_factory.mktemp("backups") / "saved"
        house.manage("backup", saved)
        yield house, saved


def titles(library: Path) -> list[str]:
    with closing(sqlite3.connect(library)) as rows:
        return [title for (title,) in rows.execute("SELECT title FROM clearinghouse_document ORDER BY document_id")]


def test_a_backup_holds_six_files_nobody_else_may_read_and_no_password(kept: tuple[House, Path]) -> None:
    _, saved = kept
    assert {path.name for path in saved.iterdir()} == FILES
    assert {path.stat().st_mode & 0o777 for path in saved.iterdir()} == {0o600}
    assert saved.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in saved.iterdir() if found_in(path.read_bytes())] == []


def test_what_was_here_is_set_aside_and_the_passwords_open_again(kept: tuple[House, Path]) -> None:
    house, saved = kept
    house.manage("add_document", "Written after the backup")
    (house.folder / "credential.keys").unlink()  # a new one is made at once, which opens nothing
    aside = Path(house.manage("restore", saved)["aside"])
    assert titles(house.folder / "doc_library.sqlite3") == ["Kept"]
    assert aside.parent == house.folder
    assert titles(aside / "doc_library.sqlite3") == ["Kept", "Written after the backup"]
    keys = json.loads((saved / "keys.json").read_text())
    assert (house.folder / "credential.keys").read_text() == keys["credential_keys"]
    lines = json.loads(house.run("doctor", "--json").stdout)["lines"]
    told = [line["said"] for line in lines if line["part"] == "Passwords of sites"]
    assert told == ["1 password stored, all open with the newest key"]


def test_nothing_is_put_under_the_feet_of_a_process_that_runs(kept: tuple[House, Path]) -> None:
    house, saved = kept
    tick = house.start_manage("tick")
    until(lambda: ticked(house), "the tick has looked")
    done = house.run("restore", saved)
    assert done.returncode == 4 and "the tick ran within the last minute" in done.stderr
    assert f"process {tick.pid} holds a database open" in done.stderr
    assert house.run("backup", saved).returncode == 1, "nor is a backup written over another"
    tick.terminate()
    tick.wait(timeout=20)
    with closing(sqlite3.connect(house.folder / "webcrawl.sqlite3")) as webcrawl, webcrawl:
        webcrawl.execute("DELETE FROM notice_mark")


def test_a_database_on_postgresql_is_saved_and_comes_back_beside_what_was_there(
    prepared_folder: Path, tmp_path: Path, postgres: Server
) -> None:
    url = postgres.url("saved_target")
    with fresh_house(prepared_folder) as house:
        house.env["CLEARINGHOUSE_DB_BACKUP"] = url
        house.manage("prepare")

        def generation(schema: str = "public") -> int:
            sql = f'SELECT generation FROM "{schema}".live_generation'
            return int(postgres.execute(sql, database="saved_target")[0][0])

        postgres.execute("UPDATE live_generation SET generation = 5", database="saved_target")
        assert house.manage("backup", tmp_path / "saved")["exact"] is False
        assert (tmp_path / "saved" / "backup.dump").exists()
        postgres.execute("UPDATE live_generation SET generation = 6", database="saved_target")
        [note] = house.manage("restore", tmp_path / "saved")["notes"]
        assert generation() == 5 and generation(note.split()[-1]) == 6
        assert house.manage("prepare")["databases"][-1]["state"] == "up to date"
        no_programs = house.run("backup", tmp_path / "other", PATH=str(tmp_path))
        assert no_programs.returncode == 4 and "pg_dump --format=custom" in no_programs.stderr
        assert not (tmp_path / "other").exists()


def _changed(saved: Path, folder: Path, change: Callable[[Path], object]) -> str:
    """What the restore says of a copy of the backup that was changed so."""
    shutil.copytree(saved, folder)
    change(folder)
    with pytest.raises(restore.CannotRestore) as refused:
        restore.check(folder)
    return str(refused.value)


def _told(**changed: object) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        told = json.loads((folder / "manifest.json").read_text())
        parts = told["parts"] | dict(changed.pop("parts", {}))  # type: ignore[call-overload]
        (folder / "manifest.json").write_text(json.dumps(told | changed | {"parts": parts}))

    return change


def _flip(folder: Path) -> None:
    whole = (folder / "primary.sqlite3").read_bytes()
    (folder / "primary.sqlite3").write_bytes(whole[:-1] + b"x")


PART = {"vendor": "sqlite", "size": 1, "digest": "0" * 64, "migrations": []}


@pytest.mark.django_db(databases="__all__")
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (_flip, "is damaged: its bytes are not those that were written"),
        (lambda folder: (folder / "primary.sqlite3").write_bytes(b""), "has 0 bytes"),
        (lambda folder: (folder / "backup.sqlite3").unlink(), "is missing"),
        (lambda folder: (folder / "manifest.json").unlink(), "holds no manifest.json"),
        (lambda folder: (folder / "manifest.json").write_bytes(b"{" * 9999), "cannot be read"),
        (_told(format="other"), "of the format 'other'"),
        (_told(parts={"../../escape": PART}), "which is not part of this product"),
        (_told(parts={"primary": PART | {"vendor": "postgresql"}}), "primary.dump is missing"),
        (_told(parts={"primary": PART | {"digest": "../../x"}}), "cannot be read"),
    ],
)
def test_a_damaged_or_foreign_backup_is_refused(
    kept: tuple[House, Path], tmp_path: Path, change: Callable[[Path], object], sentence: str
) -> None:
    assert sentence in _changed(kept[1], tmp_path / "bad", change)


@pytest.mark.django_db(databases="__all__")
def test_a_backup_of_a_newer_version_is_refused(kept: tuple[House, Path], tmp_path: Path) -> None:
    told = json.loads((kept[1] / "manifest.json").read_text())["parts"]["webcrawl"]
    told["migrations"] += ["crawler.0099_tomorrow", "theirs.0001_initial"]
    assert "crawler.0099_tomorrow is not known here" in _changed(
        kept[1], tmp_path / "new", _told(parts={"webcrawl": told})
    )


def ticked(house: House) -> bool:
    with closing(sqlite3.connect(house.folder / "webcrawl.sqlite3")) as webcrawl:
        return bool(webcrawl.execute("SELECT count(*) FROM notice_mark").fetchone()[0])
