"""Text: one spelling of white space, nothing a database cannot hold; plain text and CSV."""

import re
from collections.abc import Sequence

from crawler.values import Extracted

from .charsets import charset

TEXT_AT_MOST = 5_000_000  # characters of a page's text that are kept
_TWO_SPACES = re.compile("  ")  # finds them twice as fast as `in` does
_OTHER_WHITE = "\t\n\v\f\r\x1c\x1d\x1e\x1f"
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """Without NUL and lone surrogates, which no database takes."""
    if text.isascii():
        return text.replace("\0", "") if "\0" in text else text
    return _UNSTORABLE.sub("", text)


def squeezed(text: str) -> str:
    """Words with one space between them."""
    return storable(" ".join(text.split()))


def tidied(text: str) -> str:
    """Words with one space between them; quick for a long text that is so already."""
    return text.strip(" ") if _is_tidy(text) else " ".join(text.split())


def all_squeezed(texts: Sequence[str]) -> list[str]:
    """squeezed() of each; quick when there is nothing to do, which is looked for in all of them together."""
    together = "\0".join(texts)
    loose = together[:1] == " " or together[-1:] == " " or " \0" in together or "\0 " in together
    if not loose and _is_tidy(together) and together.count("\0") == len(texts) - 1:
        return list(texts)
    return [squeezed(text) for text in texts]


def _is_tidy(text: str) -> bool:
    """ASCII in which no two words have more, or something else, between them than one space."""
    return text.isascii() and not any(white in text for white in _OTHER_WHITE) and not _TWO_SPACES.search(text)


def keep_text(text: str, page: Extracted) -> None:
    """Store a page's text, cut when it is endless."""
    if len(text) > TEXT_AT_MOST:
        page.flags.append("text_cut")
    page.text = text[:TEXT_AT_MOST]


def read_text(body: bytes, declared_charset: str, page: Extracted) -> Extracted:
    """Plain text, CSV: all of it is text, and nothing in it is a link."""
    data, page.charset = charset.as_utf8(body, declared_charset)
    keep_text(squeezed(data.decode()), page)
    return page
