"""manage.py rollback: back to the generation before the live one, by changing one row per target."""

import time
from argparse import ArgumentParser
from typing import Any

from clearinghouse.commands import Command as Base
from clearinghouse.commands import Stop
from clearinghouse.databases import TARGETS
from clearinghouse.plurals import plural
from crawler.errors import WrongMoment
from crawler.propagation import load, services


class Command(Base):
    help = "Show the previous generation again, on one target or on all."

    def options(self, parser: ArgumentParser) -> None:
        parser.add_argument("--target", choices=list(TARGETS), help="only this server")

    def work(self, **options: Any) -> dict[str, Any]:
        started = time.perf_counter()
        try:
            goals = services.rollback(options["target"], by=self.person)
        except WrongMoment as problem:
            raise Stop(str(problem)) from problem
        seconds = round(time.perf_counter() - started, 3)
        targets = []
        for name, generation in goals.items():
            pages = load.count(TARGETS[name], generation)
            self.say(f"{name}: generation {generation}, {plural(pages, 'page')}")
            targets.append({"name": name, "pages": pages, "added": 0, "changed": 0, "removed": 0, "seconds": seconds})
        return {"generation": max(goals.values()), "targets": targets}
