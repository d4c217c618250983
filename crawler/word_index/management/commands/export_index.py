"""manage.py export_index FILE: the word index of a server as a text file, in the format of the seed's indexer."""

import os
from argparse import ArgumentParser
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from clearinghouse.database.aliases import TARGETS
from clearinghouse.operations.command_base import Command as Base
from clearinghouse.operations.command_base import Stop
from clearinghouse.search.public_target import live_generation
from clearinghouse.web.plurals import plural
from crawler.word_index import page_counts
from crawler.word_index.index_export import Exported, export


class Command(Base):
    help = "Write the word index of a server to a text file: pages, words, links, and which words are on which pages."

    def options(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="what is there is replaced when everything is written")
        parser.add_argument("--target", choices=list(TARGETS), default="primary", help="of this server")

    def work(self, **options: Any) -> dict[str, Any]:
        alias = TARGETS[options["target"]]
        page_counts.follow(alias)
        generation = live_generation(alias)
        try:
            done = _written(options["file"], alias, generation)
        except OSError as problem:
            raise Stop(f"{options['file']} cannot be written: {problem.strerror}.") from problem
        self.say(
            f"{plural(done.pages, 'page')}, {plural(done.words, 'word')}, {plural(done.links, 'link')}, "
            f"{plural(done.postings, 'word on a page,words on pages')}"
        )
        return {"file": str(options["file"]), "target": options["target"], "generation": generation, **done.to_json()}


def _written(path: Path, alias: str, generation: int) -> Exported:
    """Beside the file first: nobody finds half an index under its name."""
    with NamedTemporaryFile("w", encoding="utf-8", newline="\n", dir=path.parent, delete=False) as file:
        try:
            done = export(alias, generation, file)
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise
    return done
