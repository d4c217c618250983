"""The machinery of the soak; the soak itself is `make soak`. What it calls the truth must be true, and what it calls
growth must be growth."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from tests.sites.graph import Page
from tests.soak.__main__ import Soaked, _complaints
from tests.soak.people import Figures
from tests.soak.report import told
from tests.soak.sites import CHANGED, LEAVES, SECTIONS, Changing, Settings, Truth, published
from tests.soak.staff import BLOWS, Staff
from tests.soak.weights import OLD, WARM, Life, Scales, sizes

WHOLE = 1 + SECTIONS + LEAVES + 2 + 2  # start, sections, leaves, two hidden, two of the second crawl point


def test_the_truth_of_a_site_is_what_its_links_lead_to() -> None:
    site = Changing(1, {}, seed=1)
    whole = site.truth(Settings())
    assert (len(whole.pages), whole.failed, whole.redirected) == (WHOLE, 0, 1)
    assert len(site.truth(Settings(hidden=True)).pages) == len(site.truth(Settings(more=False)).pages) == WHOLE - 2
    assert all(path.startswith("/1/") for path in whole.pages)


def test_a_site_changes_as_it_says_and_two_of_them_alike() -> None:
    pages: dict[str, Page] = {}
    site, duplicate = Changing(1, pages, seed=1), Changing(1, {}, seed=1)
    before = site.truth(Settings())
    site.change(1)
    duplicate.change(1)
    now = site.truth(Settings())
    gone, come = before.pages.keys() - now.pages.keys(), now.pages.keys() - before.pages.keys()
    assert (len(gone), len(come), now.failed) == (1, 1, 1), "a page that went leaves a dead link behind"
    leaves = [path for path in before.pages.keys() & now.pages.keys() if "leaf" in path]
    assert sum(before.pages[path] != now.pages[path] for path in leaves) == CHANGED
    assert now.pages == duplicate.truth(Settings()).pages
    path = next(iter(come))
    assert hashlib.sha256(pages[path].body).digest() == now.pages[path]


def test_a_page_leaves_after_two_crawls_without_it_and_at_once_when_it_is_excluded() -> None:
    first = Truth({"/1/a": b"1", "/1/b": b"1", "/1/hidden/0": b"1"})
    second, third = Truth({"/1/a": b"2"}), Truth({"/1/a": b"2"})
    shown = published(first, None, {}, "")
    assert shown == first.pages
    shown = published(second, first, shown, "/1/hidden/")
    assert shown == {"/1/a": b"2", "/1/b": b"1"}
    assert published(third, second, shown, "/1/hidden/") == {"/1/a": b"2"}


def a_life(last: float) -> Life:
    """It takes 100 MB when it is warm, and so much more at the end."""
    seconds = range(0, int(OLD + 2 * WARM), 5)
    return Life("web", 1, [(at, 80.0 if at < WARM else 100 + last * at / seconds[-1], 9) for at in map(float, seconds)])


def test_what_warms_up_is_not_called_growth_and_what_grows_is() -> None:
    assert not a_life(0).grows()
    assert a_life(40).grows()
    assert a_life(0).files() == (9, 9)


def test_processes_and_files_are_weighed_and_told(tmp_path: Path) -> None:
    (tmp_path / "web.sqlite3").write_bytes(b"x" * 2**20)
    (tmp_path / "tiny").write_bytes(b"x")
    scales, figures = Scales(tmp_path), Figures()
    for second in range(6):
        scales.weigh(second, {os.getpid(): "tests", 2**22 + 1: "gone"})
    assert sizes(tmp_path) == {"web.sqlite3": 1.0}
    assert list(scales.kinds) == ["tests"] and scales.old() == []
    figures.add("crawls", 4)
    figures.add("struck: web", 2)
    figures.wrong("a page was lost")
    text = told(Soaked(figures, scales, 60.0, ["a process"]))
    assert "4 crawls" in text and "Struck 2 times: web 2." in text
    assert text.endswith("1 errors, 1 leftovers.\na page was lost\na process")
    assert "| web.sqlite3 | 1.0 | 1.0 | 1.0 | 256 |" in text


def test_of_the_log_only_a_redis_that_was_struck_is_forgiven() -> None:
    log = "Traceback (most recent call last):\n  File x\n    y\n{}\nand so on\n"
    assert _complaints(log.format("redis.exceptions.ConnectionError: gone")) == {}
    assert _complaints(log.format("KeyError: 'page'")) == {"KeyError: 'page'": 1}
    assert _complaints("OperationalError: database is locked") == {"database is locked": 1}


def test_every_process_of_the_procfile_is_struck_but_the_demo(tmp_path: Path) -> None:
    from tests.flow.house import House

    struck = {blow.partition(",")[0].lower() for blow in BLOWS}
    assert set(Staff(House(tmp_path), Figures())._lines) <= struck


def test_the_command_tells_what_it_takes() -> None:
    done = subprocess.run([sys.executable, "-m", "tests.soak", "--help"], capture_output=True, text=True, check=True)
    assert "--minutes" in done.stdout and "--postgres" in done.stdout
