"""Owns: the ids of words on a target. An id is given once and never changes, whatever is built anew.

Does not: count (counts). Called by: counts, the command word; the reading half also by the screens.
"""

from collections.abc import Iterable

from django.db import IntegrityError, connections, transaction

from clearinghouse.published.models import LexiconWord

from ..bulk_sql import chunks
from .stopwords import STOPWORDS

STOPWORD = 0
_TRIES = 5


def ids_of(alias: str, words: Iterable[str]) -> dict[str, int]:
    """word -> id, of those that have one; stopwords have 0."""
    wanted = set(words)
    found = dict.fromkeys(wanted & STOPWORDS, STOPWORD)
    for part in chunks(sorted(wanted - STOPWORDS)):
        rows = LexiconWord.objects.using(alias).filter(word__in=part).values_list("word", "id")
        found.update((word, number) for word, number in rows if word in wanted)  # some servers ignore case
    return found


def id_of(alias: str, word: str) -> int | None:
    """The id of a word; None while it has none."""
    return ids_of(alias, [word]).get(word)


def word_of(alias: str, number: int) -> str | None:
    return LexiconWord.objects.using(alias).filter(pk=number).values_list("word", flat=True).first()


def pages_of(alias: str, word: str) -> int:
    """On how many live pages a word stood when that was counted last (see counts)."""
    rows = LexiconWord.objects.using(alias).filter(word=word).values_list("word", "pages")
    return next((pages for one, pages in rows if one == word), 0)


def entered(alias: str, words: Iterable[str]) -> dict[str, int]:
    """word -> id of all of them; those without an id get one."""
    wanted = set(words)
    for _ in range(_TRIES):
        found = ids_of(alias, wanted)
        missing = sorted(wanted - found.keys())
        if not missing:
            break
        try:
            with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
                statement = "INSERT INTO lexicon (word, pages) VALUES (%s, 0)"
                cursor.executemany(statement, [(word,) for word in missing])
        except IntegrityError:
            continue  # somebody else entered one of them meanwhile
    return found
