"""manage.py rebuild_index: the full text index and the lexicon's counts of a server anew, from its stored pages."""

from argparse import ArgumentParser
from typing import Any

from clearinghouse.database.aliases import TARGETS
from clearinghouse.operations.command_base import Command as Base
from clearinghouse.web.plurals import plural
from crawler.engine import process_limits
from crawler.word_index.rebuild import rebuild


class Command(Base):
    help = "Build the full text index and the word counts anew from the stored pages, while people go on searching."

    def options(self, parser: ArgumentParser) -> None:
        parser.add_argument("--target", choices=list(TARGETS), help="only this server")

    def work(self, **options: Any) -> dict[str, Any]:
        process_limits.step_back()
        targets = []
        for name, alias in TARGETS.items():
            if options["target"] not in (None, name):
                continue
            done = rebuild(alias)
            pages = plural(done.indexed, "page")
            self.say(f"{name}: {pages} indexed again, {done.counted} counted, {done.seconds:.1f} s")
            targets.append(
                {"name": name, "indexed": done.indexed, "counted": done.counted, "seconds": round(done.seconds, 3)}
            )
        return {"targets": targets}
