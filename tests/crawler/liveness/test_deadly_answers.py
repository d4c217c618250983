"""An answer that brings the whole crawler down while it is unpacked is named after three deaths (design rule 9)."""

import gzip
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults.house import BASE, House, with_document
from tests.proves import proves
from tests.sites.graph import Page, html, serve

LINKS = [f"/m/{n}" for n in range(6)]


def packed(text: str) -> Page:
    return Page(body=gzip.compress(html("Packed", [], text)), headers={"Content-Encoding": "gzip"})


def crawl(house: House, seconds: float, *arguments: str) -> int:
    command = [sys.executable, "-m", "tests.sites.deadly_unpacker", str(seconds), "crawl", *arguments]
    done = subprocess.run(command, cwd=BASE, env=house.environment, capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, -signal.SIGSEGV), done.stderr
    return done.returncode


@proves("rule 9", "A18")
@pytest.mark.parametrize(("seconds", "uncounted"), [(0.0, 0), (5.0, 1)], ids=["written", "not written yet"])
def test_an_answer_that_kills_the_loop_is_quarantined_after_three_deaths(
    tmp_path: Path, seconds: float, uncounted: int
) -> None:
    """One whose message nobody had written when it struck is counted from the next death on."""
    pages = {"/m/": Page(["/m/bad", *LINKS]), "/m/bad": packed("kills its loop")} | dict.fromkeys(LINKS, packed("good"))
    with serve(pages) as site:
        house = with_document(tmp_path / "house", site.url("/m/"))
        deaths = 0
        while crawl(house, seconds, *(("--resume", "last") if deaths else ("--speed", "fast"))):
            deaths += 1
            assert deaths <= 3 + uncounted
    assert deaths == 3 + uncounted
    rows = house.rows("SELECT url, outcome, reason FROM ledger")
    said = {url.rpartition("/")[2]: reason or outcome for url, outcome, reason in rows}
    assert said.pop("bad") == "quarantined"
    assert set(said.values()) == {"crawled"} and len(said) == len(LINKS) + 1
    assert house.rows("SELECT state FROM run") == [("finished",)]
    assert list((house.var / "notes").iterdir()) == []


@proves("rule 9")
def test_a_kill_from_outside_blames_no_page(tmp_path: Path) -> None:
    with serve({"/m/": Page(LINKS)} | {link: Page(delay=0.5) for link in LINKS}) as site:
        house = with_document(tmp_path / "house", site.url("/m/"))
        process = house.start("crawl", "--speed", "fast")
        while site.requests.total() < 3 and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert house.rows("SELECT COUNT(*) FROM message WHERE attempts > 0") == [(0,)]
        house.manage("crawl", "--resume", "last")
    assert house.rows("SELECT COUNT(*) FROM ledger WHERE outcome <> 'crawled'") == [(0,)]
    assert list((house.var / "notes").iterdir()) == []
