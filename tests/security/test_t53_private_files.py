"""Databases, keys, logs and sockets are files, and other people have accounts on the machine (threat T53)."""

import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from clearinghouse import env
from clearinghouse.operations import private_files
from tests.flow.house import House, until
from tests.local.test_serve import READY, press_ctrl_c, wait_for_nothing

DATABASES = ("doc_library.sqlite3", "webcrawl.sqlite3", "primary.sqlite3", "backup.sqlite3")


@pytest.fixture
def careless() -> Iterator[None]:
    """As most people have it: what they make, everybody reads."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def house(careless: None) -> Iterator[House]:
    """In a folder that was there before, open to everybody."""
    folder = Path(tempfile.mkdtemp(prefix="open-"))
    folder.chmod(0o755)
    house = House(folder)
    yield house
    house.close()
    shutil.rmtree(folder, ignore_errors=True)


def open_to_others(folder: Path) -> list[str]:
    return [
        f"{path.relative_to(folder)} {path.stat().st_mode & 0o777:o}"
        for path in folder.rglob("*")
        if path.stat().st_mode & 0o077 and "static" not in path.parts and path.name != "processes.log"
    ]


def closed(path: Path) -> bool:
    return not path.stat().st_mode & 0o077


def test_t53_in_a_folder_that_was_there_nothing_is_open(house: House) -> None:
    assert house.run("prepare").returncode == 0
    assert house.run("load_demo").returncode == 0
    assert all(closed(house.folder / name) for name in (*DATABASES, "secret.key", "demo-sign-ins"))
    assert open_to_others(house.folder) == []
    assert house.folder.stat().st_mode & 0o066 == 0
    assert house.run("backup", str(house.folder / "saved")).returncode == 0
    assert closed(house.folder / "saved") and open_to_others(house.folder) == []


def test_t53_what_lay_open_before_is_closed_at_the_next_start_and_told(house: House) -> None:
    house.run("prepare")
    for name in (*DATABASES, "credential.keys"):
        (house.folder / name).chmod(0o644)
    (house.folder / "webcrawl.sqlite3-wal").touch(0o644)
    (house.folder / "redis").mkdir(0o755, exist_ok=True)
    theirs = house.folder / "notes-of-somebody.txt"
    theirs.touch(0o644)
    said = house.run("prepare").stdout
    assert open_to_others(house.folder) == ["notes-of-somebody.txt 644"]
    assert "credential.keys could be opened by other accounts of this machine (644): closed" in said
    assert "closed" not in house.run("prepare").stdout


def test_t53_every_process_of_ours_makes_files_for_itself_only(house: House) -> None:
    process = house.start_manage("serve")
    until(lambda: READY in house.log or process.poll() is not None, "make run is ready", 90)
    running = house.processes()
    said = " ".join(running.values())
    for part in ("gunicorn", "rqworker", "tick", "local.demo", "valkey"):
        assert part in said or "redis" in said, part
    assert {umask_of(pid) for pid in running} == {"0077"}
    assert (house.folder / "redis.sock").exists() and open_to_others(house.folder) == []
    press_ctrl_c(process)
    wait_for_nothing(house)


def umask_of(pid: int) -> str:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith("Umask:"))


@pytest.mark.parametrize(("module", "expected"), [("clearinghouse.wsgi", "63"), ("clearinghouse.settings", "63")])
def test_t53_so_does_what_other_process_managers_start(house: House, module: str, expected: str) -> None:
    import subprocess
    import sys

    code = f"import {module}, os; print(os.umask(0))"
    done = subprocess.run([sys.executable, "-c", code], env=house.env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == expected


def test_t53_doctor_looks_at_everything_wherever_it_lies_and_says_what_to_type(house: House) -> None:
    house.run("prepare")
    elsewhere = Path(tempfile.mkdtemp(prefix="elsewhere-"))
    try:
        shutil.move(house.folder / "primary.sqlite3", elsewhere / "primary.sqlite3")
        shutil.move(house.folder / "credential.keys", elsewhere / "keys")
        house.env["CLEARINGHOUSE_DB_PRIMARY"] = f"sqlite:///{elsewhere}/primary.sqlite3"
        house.env["CLEARINGHOUSE_CREDENTIAL_KEYS"] = f"file:{elsewhere}/keys"
        assert lines(house)["State folder"]["level"] == "ok"
        for path in (elsewhere / "primary.sqlite3", elsewhere / "keys", house.folder / "backup.sqlite3"):
            path.chmod(0o640)
        house.folder.chmod(0o755)
        found = lines(house)
        assert found["File keys"]["level"] == "trouble"
        for name in ("primary.sqlite3", "backup.sqlite3", house.folder.name):
            assert found[f"File {name}"]["level"] == "warning", name
        assert found["File backup.sqlite3"]["do"] == f"chmod go-rwx {house.folder}/backup.sqlite3"
        assert "State folder" not in found
        assert stat.S_IMODE((house.folder / "backup.sqlite3").stat().st_mode) == 0o640, "doctor changes nothing"
    finally:
        shutil.rmtree(elsewhere)


def lines(house: House) -> dict[str, dict[str, str]]:
    return {line["part"]: line for line in json.loads(house.run("doctor", "--json").stdout)["lines"]}


def test_t53_nobody_listens_in_place_of_us_where_the_folder_has_a_long_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody knows the name in advance: a socket in the folder of everybody could be another account's."""
    monkeypatch.setenv("CLEARINGHOUSE_VAR", str(tmp_path / ("é" * 60)))
    with tempfile.TemporaryDirectory() as temporary:
        monkeypatch.setattr("tempfile.tempdir", temporary)
        places = {env.socket_file(name) for name in ("redis", "web", "public")}
        (folder,) = {place.parent for place in places}
        assert len(places) == 3 and folder.parent == Path(temporary)
        assert max(len(os.fsencode(one)) for one in places) < 108
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        folder.chmod(0o755)
        with pytest.raises(SystemExit, match="must be a folder of ours alone"):
            env.socket_file("web")
        folder.rmdir()
        folder.symlink_to(tmp_path)
        with pytest.raises(SystemExit, match="must be a folder of ours alone"):
            env.socket_file("web")


def test_t53_a_folder_of_a_group_is_closed_to_all_others_only(tmp_path: Path) -> None:
    tmp_path.chmod(0o775)
    (tmp_path / "webcrawl.sqlite3").touch(0o664)
    (tmp_path / "webcrawl.sqlite3").chmod(0o664)
    private_files.close_existing(tmp_path)
    assert stat.S_IMODE((tmp_path / "webcrawl.sqlite3").stat().st_mode) == 0o660
    assert stat.S_IMODE(tmp_path.stat().st_mode) & 0o070 == 0o070


def test_t53_a_folder_through_which_a_proxy_passes_stays_so(tmp_path: Path) -> None:
    tmp_path.chmod(0o711)
    assert private_files.close_existing(tmp_path) == []
    assert list(private_files.open_ones(tmp_path)) == []


def test_t53_a_folder_of_everybody_is_not_closed(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    (tmp_path / "backup.sqlite3").touch()
    (tmp_path / "backup.sqlite3").chmod(0o644)
    private_files.close_existing(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o1777
