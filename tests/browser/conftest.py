"""Real pages in Debian's Chromium, against a whole house: web server, Redis, workers, tick, demo site."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser import program
from tests.browser.visitor import Visitor
from tests.flow.conftest import fresh_house, house, prepared_once
from tests.flow.house import House
from tests.requirements import need

__all__ = ["house"]

FAILED = pytest.StashKey[bool]()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    browser_program = program.found()
    need("browser", browser_program is not None, f"none of Debian's {', '.join(program.NAMES)} is installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_program, args=program.FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def prepared_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What each house is copied from; the static files are collected as well."""
    house = House(tmp_path_factory.mktemp("collected") / "var")
    shutil.copytree(prepared_once(request.config, tmp_path_factory), house.folder)
    done = house.run("collectstatic", "--no-input", "--verbosity", "0")
    assert done.returncode == 0, done.stderr
    return house.folder


@pytest.fixture
def open_house(chromium: Browser, house: House) -> House:
    """Everything runs, with the demo loaded, as after `make run`."""
    return opened(house)


@pytest.fixture(scope="module")
def module_house(chromium: Browser, prepared_folder: Path) -> Iterator[House]:
    """An open house for the tests of one file: each leaves it as it found it."""
    with fresh_house(prepared_folder) as house:
        yield opened(house)


@pytest.fixture(scope="session")
def busy_house(chromium: Browser, prepared_folder: Path) -> Iterator[House]:
    """An open house with two crawls and a propagation behind it. All tests share it: they leave it as they found it,
    or ask for no more of it than their own rows."""
    with fresh_house(prepared_folder) as house:
        opened(house)
        for _ in range(2):
            house.manage("crawl", "--speed", "fast")
        house.manage("propagate")
        yield house


def opened(house: House) -> House:
    house.manage("load_demo")
    house.start_everything()
    house.start_web()
    return house


@pytest.fixture
def visit(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[Callable[..., Visitor]]:
    """visit() opens one more browser profile, visit(scripts=False) one without JavaScript; more options are
    those of a browser context, like color_scheme.

    A failed test leaves pictures; trouble in any profile fails the test.
    """
    shared = (name for name in ("busy_house", "module_house") if name in request.fixturenames)
    home = request.getfixturevalue(next(shared, "open_house"))
    visitors: list[Visitor] = []

    def arrive(scripts: bool = True, **options: Any) -> Visitor:
        visitors.append(Visitor(chromium, home, f"http://127.0.0.1:{home.port}", scripts, **options))
        return visitors[-1]

    yield arrive
    failed = request.node.stash.get(FAILED, False)
    for number, visitor in enumerate(visitors, start=1):
        if failed or visitor.problems:
            visitor.picture(f"failed-{request.node.name}-{number}")
        visitor.close()
    problems = [problem for visitor in visitors for problem in visitor.problems]
    assert not problems or failed, "\n".join([*problems, home.log])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report
