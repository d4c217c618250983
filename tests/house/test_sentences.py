"""What people read: plurals made in one way, no names of settings or machinery where only administrators know them."""

import re

from tests.house.sentences import Sentence, sentences
from tests.house.tree import BASE, PACKAGES, text_of

PLURALS = BASE / "clearinghouse/web/plurals.py"

# One name, or none, may stand before these; clearinghouse.web.plurals finds the right word for 1.
_NOUNS = (
    "accounts addresses attempts backlinks bytes characters clicks columns crawls days depths documents errors "
    "failures faults files findings folders generations groups heads hours indexes jobs keys kinds lines links "
    "messages migrations minutes months notices packages pages parameters passwords people points previews processes "
    "queries queues results rows rules runs seconds sentences servers sites steps tables targets terms texts times "
    "URLs values versions views weeks words workers years"
)
_BARE = re.compile(
    r"\{(?!plural )([^{}]*)\} (?:more |other |new |crawl |exclude |smaller )?(?:" + "|".join(_NOUNS.split()) + r")\b"
)
# What is never 1, a constant of ours or a limit; and what is no number: names, ids.
_FIXED = re.compile(
    r"^(?:number\()?(?:[a-z]+\.)?[A-Z_]{3,}\b|^(?:most|limit)\b|(?:pk|name|number|fresh|\(\)|_by)$|\[.*:.*\]"
)
# Another way would not be found when somebody looks for all of them.
_OTHER_WAYS = re.compile(r"pluralize *\}|pluralize:\"e?s\"|[\"'](?:e?s|y|ies)[\"'] if |[\"']1 \w+[\"'] if [^:]* == 1\b")
_SETTING = re.compile(r"CLEARINGHOUSE_")
_MACHINERY = re.compile(r"\b(?:Redis|RQ|rqworker|manage\.py|[Tt]raceback)\b|\bqueues? (?:control|crawl|propagate)\b")
# Words of the code, or pictures, that say nothing to who reads a screen.
_PICTURES = re.compile(
    r"\b(?:bells?|doorbell|rings?|bur(?:y|ied|ies)|heirs?|errands?|wished|alive|turnstile)\b"
    r"|\b(?:this|the) house\b|\bthe (?:dead(?! link)|public home)\b|\bone trouble\b|\btold because\b",
    re.IGNORECASE,
)
# Screens of administrators, and what programs, operators and their commands read.
_FOR_ADMINISTRATORS = re.compile(
    r"^templates/(?:upkeep|api|admin)/|^templates/help/(?:machines|settings|api-keys|people)"
    r"|^templates/inbox/system|^templates/accounts/(?:key|people|networks|settings|options|project)"
    r"|/management/|^clearinghouse/(?:env|settings|local|operations|database|vault|gateway|addresses/networks|published)"
    r"|^clearinghouse/(?:accounts/settings_|web/(?:proxies|tracebacks))"
    r"|^crawler/(?:api|upkeep|liveness/(?:fault|error)|ledger/(?:ledger_check|ledger_contents))"
)


def told(found: list[Sentence]) -> list[str]:
    return [f"{place}: {text}" for place, text in found]


def test_a_number_and_its_word_are_joined_in_one_way() -> None:
    bare = [one for one in sentences() for found in _BARE.finditer(one.text) if not _FIXED.search(found[1].strip("'"))]
    assert told(bare) == [], 'write {plural(count, "page")} or {{ count|plural:"page" }}'
    files = [path for folder in (*PACKAGES, "templates") for path in (BASE / folder).rglob("*.*")]
    texts = {path: text_of(path) for path in files if path.suffix in {".py", ".html", ".txt"} and path != PLURALS}
    assert [str(path.relative_to(BASE)) for path, text in texts.items() if _OTHER_WAYS.search(text)] == []


def test_no_status_stands_for_a_sentence() -> None:
    assert told([one for one in sentences() if re.search(r"\b[45]xx\b", one.text)]) == []


def test_only_administrators_read_the_names_of_settings_and_machinery() -> None:
    names = re.compile(f"{_SETTING.pattern}|{_MACHINERY.pattern}")
    known = [one for one in sentences() if not _FOR_ADMINISTRATORS.search(one.place)]
    assert len(known) > 2_000
    assert told([one for one in known if names.search(one.text)]) == []


def test_no_sentence_speaks_in_pictures() -> None:
    read = [Sentence(one.place, re.sub(r"\{[^{}]*\}", "{}", one.text)) for one in sentences()]
    assert told([one for one in read if _PICTURES.search(one.text)]) == []


def test_the_list_of_sentences_is_whole() -> None:
    """What a person saw on a page stands in the list: text, title, argument of a tag, piece of Python."""
    texts = [one.text for one in sentences()]
    for words in (
        "There is nothing here", "Nothing was skipped and nothing failed.", "The page where the crawl starts.",
        "No address matches these filters.", "This is not your password",
        "Launched run {run.pk} over {plural document}",
    ):  # fmt: skip
        assert any(words in text for text in texts), words
