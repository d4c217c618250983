"""Whether word -> pages and page -> words of some texts say the same, and the same as counting by hand.

`python -m tests.index.agreement` asks this about 300 random texts on the databases of its environment.
"""

import os
import random
from collections import Counter

WORDS = [
    "measure", "Measures", "measuring", "café", "Cafe\u0301", "NAÏVE", "don't", "l’hôpital", "the", "of", "7", "2026",
    "b12", "1e5", "1.5e5", "火", "東京都", "東京", "über", "x" * 70, "x" * 80, "running", "runner", "snake_case",
    "well-known", "©", "ward/bed", "a@b.example", "www.example.org", "0x1F", "C++", "2–3", "«ward»",
    "йод", "한국어", "ﬁrst", "Acme™", "Ŀ", "東京・大阪",
]  # fmt: skip


def by_hand(text: str) -> dict[str, list[int]]:
    """Word -> positions, written down in the plainest way."""
    from clearinghouse.search.words import words_of
    from crawler.word_index.stopwords import STOPWORDS

    found: dict[str, list[int]] = {}
    for place, word in enumerate(words_of(text), 1):
        if word[:64] not in STOPWORDS:
            found[word[:64]] = [*found.get(word[:64], []), place]
    return found


def check(texts: list[str]) -> int:
    """How many words were looked at; fails where the three ways of counting differ."""
    from clearinghouse.published.models import PublishedVersion
    from crawler.word_index import indexed_page, lexicon, page_counts
    from crawler.word_index.postings import postings
    from tests.search.library import publish

    ids = publish("primary", [{"text": text} for text in texts])
    page_counts.recount("primary")
    naive = {number: by_hand(text) for number, text in zip(ids, texts, strict=True)}
    forward = {
        page.pk: {one.word: one.positions for one in indexed_page.words_on(page)}
        for page in PublishedVersion.objects.using("primary").filter(pk__in=ids)
    }
    assert forward == naive
    spread = Counter(word for words in naive.values() for word in words)
    for word, expected in spread.items():
        backward = {one.published_id: one.positions for one in postings("primary", 1, word)}
        assert backward == {number: words[word] for number, words in naive.items() if word in words}, word
        assert lexicon.pages_of("primary", word) == expected
    assert len(set(lexicon.ids_of("primary", spread).values())) == len(spread)
    return len(spread)


def main() -> None:
    chance = random.Random(5)
    print(check([" ".join(chance.choices(WORDS, k=chance.randint(0, 40))) for _ in range(300)]))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clearinghouse.settings")
    import django

    django.setup()
    main()
