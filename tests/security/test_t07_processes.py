"""Threat T7, goal 23, outside the web application: files, Redis, logs and command lines of real processes."""

from pathlib import Path

import pytest
from redis import Redis

from tests.flow.conftest import house, prepared_folder
from tests.flow.house import House, until
from tests.proves import proves
from tests.security.canary import CANARY, found_in
from tests.sites.graph import Page, serve

__all__ = ["house", "prepared_folder"]


def looks_of(house: House) -> str:
    """What anybody on the machine sees of the processes, and their surroundings."""
    text = ""
    for pid, line in house.processes().items():
        environ = Path(f"/proc/{pid}/environ")
        text += line + (environ.read_bytes().decode("latin-1") if environ.exists() else "")
    return text


@proves("I11", "goal 23")
@pytest.mark.sqlite  # it reads the files
def test_t7_no_process_file_log_or_queue_holds_the_password_of_a_crawl(house: House) -> None:
    pages = {"/": Page([f"/{n}" for n in range(5)]), **{f"/{n}": Page(["/"], delay=0.1) for n in range(4)}}
    with serve(pages) as site:
        house.env["CLEARINGHOUSE_ALLOWED_NETWORKS"] = site.address.removeprefix("http://")
        house.env["CLEARINGHOUSE_LOG_LEVEL"] = "DEBUG"
        house.start_redis()
        document = house.manage("add_document", "Private measures")["doc_id"]
        sign_in = ("--auth", "basic", "--user", "reader", "--password-env", "SITE_PASSWORD")
        house.manage("add_crawl_point", document, site.url("/"), "--depth", 2, *sign_in, SITE_PASSWORD=CANARY)
        house.start_worker("control")
        house.start_worker("crawl")
        run = house.manage("launch", "--doc", document, "--speed", "fast")["run"]
        seen: list[str] = []

        def ended() -> bool:
            seen.append(looks_of(house))
            return (house.ended(run) or {}).get("state") == "finished"

        until(ended, "the run ends", 90)
        sent = [headers.get("authorization", "") for path, headers in site.seen if path != "/robots.txt"]
        assert len(sent) >= 5 and all(found_in(one) == ["base64"] for one in sent), house.log
    redis = Redis(unix_socket_path=str(house.folder / "redis.sock"))
    dumped = b"".join(redis.dump(key) or b"" for key in redis.scan_iter())
    assert len("".join(seen)) > 1000 and not found_in("".join(seen))
    assert not found_in(dumped)
    for database in ("default", "webcrawl"):
        dump = house.run("dumpdata", "--database", database, "--exclude", "django_rq")
        assert dump.returncode == 0 and not found_in(dump.stdout + dump.stderr)
    files = [path for path in house.folder.rglob("*") if path.is_file()]
    assert {"doc_library.sqlite3", "webcrawl.sqlite3", "processes.log"} <= {path.name for path in files}
    for path in files:
        assert not found_in(path.read_bytes()), path


@pytest.mark.parametrize("words", [("--password", CANARY), (f"--password={CANARY}",)])
def test_t7_no_command_takes_a_password_on_its_line(house: House, words: tuple[str, ...]) -> None:
    """Whoever lists the processes would read it; it comes from the environment."""
    done = house.run("add_crawl_point", 1, "https://a.example/", *words)
    assert done.returncode == 2 and "--password" in done.stderr
