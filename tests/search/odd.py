"""Five hundred texts nobody should be able to break a search with: always the same ones."""

import random

PIECES = (
    '"', "'", "AND (", ") OR", "NOT", "NEAR/2", "NEAR(a b, 2)", "*", "**", "a*", "^", "-", "--", "-*", '-"', ":", "::",
    "title:", "title:*", 'title:"', "after:99", "after:", "before:0000-00-00", "before:9999-99-99", "type:", "type:pdf",
    "site:", "site:%", "document:", "document:99999999999999999999", "project:\x00", "OR", "OR OR", "||", "|", "&",
    "&&", "!", "<->", "<2>", "a:*B", "%", "_", "%s", "%%", "\\", "\\'", "''", "$$", ";--", "x'", "{title_str} :",
    "rowid:1", "+", "col:word", "word", "handover", "patient safety", "os.path.join", "__init__", "--option", "C++",
    "\x00", "\x1b[0m", "\ud800", "\udfff", "\ufffd", "\ufeff", "\u200f\u202e", "\u202d", "\u0301", "a\u0301" * 50, "😀",
    "👩‍👩‍👧", "日本", "ガ", "한국", "İ", "ß", "ﬁ", "ı", "٣", "½", "x" * 10_000, "é" * 5_000, '"' * 999, "(" * 999,
    "a OR " * 300, "-a " * 300, "a* " * 300, '"a b" ' * 100, "\t\r\n", "\u00a0", "\u2028", "<script>",
    "<mark>", "&amp;", "{{ x }}",
)  # fmt: skip


def odd_texts(count: int = 500) -> list[str]:
    """Each piece alone, then several of them together, with and without spaces."""
    choose = random.Random(1119)
    texts = ["", " ", *PIECES]
    while len(texts) < count:
        texts.append(choose.choice(["", " ", " "]).join(choose.choices(PIECES, k=choose.randint(2, 6))))
    return texts
