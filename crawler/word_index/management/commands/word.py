"""manage.py word WORD: its id, and the pages that hold it, with frequency and positions."""

from argparse import ArgumentParser
from typing import Any

from clearinghouse.database.aliases import TARGETS
from clearinghouse.operations.command_base import WRONG_USE, Stop, whole
from clearinghouse.operations.command_base import Command as Base
from clearinghouse.search.public_target import live_generation
from clearinghouse.web.plurals import plural
from crawler.word_index import lexicon, page_counts, postings, word_json, words_in_text
from crawler.word_index.stopwords import STOPWORDS

_ALL = 2**62
_SHOWN = 20  # positions on a line for people


class Command(Base):
    help = "Print the id of a word and the pages that hold it, with frequency and positions."

    def options(self, parser: ArgumentParser) -> None:
        parser.add_argument("word", help="one word; capitals and accents make no difference")
        parser.add_argument("--id", action="store_true", help="the argument is the id of a word")
        parser.add_argument("--target", choices=list(TARGETS), default="primary", help="of this server")
        parser.add_argument("--limit", type=whole(), default=100, metavar="N", help="pages listed; 0: all")
        parser.add_argument(
            "--after", type=whole(), default=0, metavar="N", help="go on where `next` of an answer says"
        )

    def work(self, **options: Any) -> dict[str, Any]:
        alias = TARGETS[options["target"]]
        generation = live_generation(alias)
        page_counts.follow(alias)  # whatever was published lately gets its ids now
        word = self._word(alias, options)
        found = postings.Postings()
        if word not in STOPWORDS:
            all_of_it = postings.candidates(alias, generation, word, after=options["after"])
            found = postings.some(all_of_it, options["limit"] or _ALL, _ALL)
        number = lexicon.id_of(alias, word)
        pages = lexicon.pages_of(alias, word)
        self._print(word, number, pages, found, options["target"])
        return {
            "word": word,
            "word_id": number,
            "target": options["target"],
            "generation": generation,
            "pages": pages,
            "postings": [word_json.posting(row) for row in found.rows],
            "next": found.after or None,
        }

    def _word(self, alias: str, options: dict[str, Any]) -> str:
        typed = options["word"]
        if options["id"]:
            word = lexicon.word_of(alias, int(typed)) if typed.isdecimal() else None
            if word is None:
                raise Stop(f"No word of {options['target']} has the id {typed}.", WRONG_USE)
            return word
        words = words_in_text.words_asked(typed)
        if len(words) != 1:
            raise Stop(f"One word is asked for; “{typed}” has {len(words)}.", WRONG_USE)
        return words[0]

    def _print(self, word: str, number: int | None, pages: int, found: postings.Postings, target: str) -> None:
        if number == lexicon.STOPWORD:
            self.say(f"{word} is a stopword: id 0, not stored.")
            return
        self.say(f"{word}: {f'id {number}' if number else 'no id'}, on {plural(pages, 'page')} of {target}")
        for row in found.rows:
            places = ", ".join(map(str, row.positions[:_SHOWN])) + (" …" if row.frequency > _SHOWN else "")
            self.say(f"  page {row.page_id}: {row.frequency} × at {places}  {row.url}")
        if found.after:
            self.say(f"There are more: --after {found.after}")
