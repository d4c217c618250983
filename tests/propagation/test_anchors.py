"""Texts of links, gathered in parts, are those that one pass with everything in memory finds."""

import random
from typing import Any

import pytest

from clearinghouse.database.digests import digest_of
from crawler.extract import pack_links
from crawler.propagation.loading import anchors
from crawler.propagation.loading.anchors import Anchors
from crawler.propagation.loading.packed_keys import Numbers
from crawler.values import Link


@pytest.mark.parametrize(("parts_of", "lately"), [(10**9, 20_000), (7, 3), (1, 1)])
def test_every_text_is_found_wherever_its_page_stands(monkeypatch: Any, parts_of: int, lately: int) -> None:
    monkeypatch.setattr(anchors, "_PARTS_OF", parts_of)
    monkeypatch.setattr(anchors, "_LATELY", lately)
    monkeypatch.setattr(anchors, "_IN_MEMORY", 100)
    rnd = random.Random(3)
    urls = sorted((f"https://ex.gov/{number}" for number in range(90)), key=digest_of)
    wanted = Numbers()
    for number, url in enumerate(urls):
        wanted[digest_of(url)] = 1000 + number
    found = Anchors(wanted, wanted.place_of)
    expected: dict[int, set[str]] = {}
    for own in range(90):
        texts = ["a  b", "é", "\ud800", "", "x" * 300, str(rnd.random())]
        to = [*urls, "https://elsewhere.org/"]
        links = [Link(rnd.choice(to), rnd.choice(texts), False) for _ in range(60)]
        found._note(own, pack_links(links))
        for link in links:
            place = wanted.place_of(digest_of(link.url))
            text = " ".join(link.anchor.split())[:200]
            if text and place not in (-1, own):
                expected.setdefault(place, set()).add(text)
    ranges = list(found.ranges())
    assert [place for places, _ in ranges for place in places] == list(range(90))
    told = {place: text for places, texts in ranges for place, text in texts.items() if place in places}
    assert told == {place: "\n".join(sorted(texts)[:20]) for place, texts in expected.items()}
