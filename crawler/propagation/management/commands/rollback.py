"""manage.py rollback: back to the generation before the live one, or forward again, by changing one row per target."""

import re
import time
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from clearinghouse.database.aliases import TARGETS
from clearinghouse.operations.command_base import WRONG_USE, Stop
from clearinghouse.operations.command_base import Command as Base
from clearinghouse.web.plurals import plural
from crawler.errors import WrongMoment
from crawler.propagation import left_out
from crawler.propagation.loading import load
from crawler.propagation.switching import rollback
from crawlpoints.point_checks import Invalid


def crawl(word: str) -> tuple[int, list[int]]:
    """A run, or one document of it: 8 or 8:12."""
    if not re.fullmatch(r"[0-9]{1,18}(:[0-9]{1,18})?", word):
        raise ArgumentTypeError(f"{word!r} is neither a run nor RUN:DOC")
    run, _, document = word.partition(":")
    return int(run), [int(document)] if document else []


class Command(Base):
    help = "Show the previous generation again, on one target or on all; with --forward the one that was rolled back."

    def options(self, parser: ArgumentParser) -> None:
        parser.add_argument("--target", choices=list(TARGETS), help="only this server")
        parser.add_argument("--forward", action="store_true", help="show the generation again that was rolled back")
        parser.add_argument(
            "--leave-out", action="append", type=crawl, default=[], metavar="RUN[:DOC]",
            help="leave this crawl out, so that the next propagation does not bring it again (repeatable)",
        )  # fmt: skip
        parser.add_argument("--reason", default="", help="why it is left out")
        parser.add_argument(
            "--take-in", action="append", type=crawl, default=[], metavar="RUN[:DOC]",
            help="with --forward: this crawl counts again (repeatable)",
        )  # fmt: skip

    def work(self, **options: Any) -> dict[str, Any]:
        if (options["leave_out"] and options["forward"]) or (options["take_in"] and not options["forward"]):
            raise Stop("--leave-out goes with rolling back, --take-in with --forward.", WRONG_USE)
        started = time.perf_counter()
        try:
            goals = self._roll(options)
        except Invalid as problem:
            raise Stop(f"{problem}: --reason TEXT", WRONG_USE) from problem
        except WrongMoment as problem:
            raise Stop(str(problem)) from problem
        seconds = round(time.perf_counter() - started, 3)
        targets = []
        for name, generation in goals.items():
            pages = load.count(TARGETS[name], generation)
            self.say(f"{name}: generation {generation}, {plural(pages, 'page')}")
            targets.append({"name": name, "pages": pages, "added": 0, "changed": 0, "removed": 0, "seconds": seconds})
        return {"generation": max(goals.values()), "targets": targets}

    def _roll(self, options: dict[str, Any]) -> dict[str, int]:
        named = options["take_in"] if options["forward"] else options["leave_out"]
        crawls = [number for run, documents in named for number in left_out.of_run(run, documents)]
        if options["forward"]:
            return rollback.roll_forward(options["target"], by=self.person, take_in=crawls)
        return rollback.roll_back(options["target"], by=self.person, leave_out=crawls, reason=options["reason"])
