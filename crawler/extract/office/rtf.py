"""RTF: its words, title and links. Runs in the bounded child (see worker).

What Word keeps in a file beside its words is left out: tables of fonts and styles, pictures, instructions of fields,
hidden and deleted text. Notes, headers, footers, comments and text boxes follow the text they stand beside.
"""

import re
from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

from ..charsets.codepages import WESTERN, by_charset, by_number
from ..gathered import Gathered, OfficeField

TOKENS_AT_MOST = 12_000_000  # of a file that is nothing but braces; read in some five seconds
_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|((?:\\'[0-9a-fA-F]{2})+)|\\([^a-zA-Z])|([{}])|[\r\n\0]+|([^\\{}\r\n\0]+)"
)
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SYMBOLS_OF_FONTS = re.compile("[\uf000-\uf0ff]")  # Wingdings and the like: marks, not words

_BREAKS = dict.fromkeys(
    ("par", "line", "tab", "cell", "row", "page", "sect", "column", "nestcell", "nestrow", "softline", "lbr",
     "emspace", "enspace", "qmspace"), " ",
)  # fmt: skip
_CHARACTERS = _BREAKS | {
    "rquote": "’", "lquote": "‘", "ldblquote": "“", "rdblquote": "”", "emdash": "—", "endash": "–", "bullet": "•",
    "zwj": "\u200d", "zwnj": "\u200c", "zwbo": "", "zwnbo": "", "ltrmark": "", "rtlmark": "",
}  # fmt: skip
_SYMBOLS = {b"~": " ", b"_": "-", b"-": "", b"\t": " ", b"\n": " ", b"\r": " "}
# What holds no words of the document, written with \* or without.
_NEVER = frozenset({
    "colortbl", "stylesheet", "pict", "shppict", "nonshppict", "themedata", "colorschememapping", "datastore",
    "listtable", "listoverridetable", "listpicture", "list", "listoverride", "rsidtbl", "generator", "filetbl",
    "revtbl", "pgdsctbl", "xmlnstbl", "latentstyles", "listtext", "pntext", "pntxta", "pntxtb", "pnseclvl",
    "bkmkstart", "bkmkend", "xe", "rxe", "txe", "tc", "tcn", "ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc",
    "aftncn", "private", "template", "datafield", "objclass", "objname", "objdata", "objalias", "objsect", "objtime",
    "formfield", "falt", "panose", "userprops", "docvar", "passwordhash", "pgptbl", "protusertbl", "atnid",
    "atnauthor", "atntime", "atnicn", "atndate", "atnref", "atnparent", "atrfstart", "atrfend", "shprslt",
    "nonesttables", "nesttableprops", "sn", "sv", "mmathPr", "mmathPict", "wgrffmtfilter", "hlinkbase", "fontemb",
    "defchp", "defpap", "background",
})  # fmt: skip
# What holds no words itself, but parts that do; and those parts.
_MOSTLY_NOT = frozenset({"object", "shp", "shpinst", "do", "mmath", "moMath", "moMathPara", "info"})
_AGAIN = frozenset({"result", "shptxt", "dptxbxtext", "mr", "fldrslt"})
_BESIDE = frozenset({
    "footnote", "annotation", "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf",
    "shptxt", "dptxbxtext",
})  # fmt: skip
_FIELD, _INSTRUCTION, _TITLE, _FONTS, _TWICE, _IN_UNICODE = "field", "fldinst", "title", "fonttbl", "upr", "ud"
_READ = _MOSTLY_NOT | _AGAIN | _BESIDE | {_FIELD, _INSTRUCTION, _TWICE, _IN_UNICODE}  # of those that are starred
_SHOWN, _MAYBE, _HIDDEN, _DEFINES_FONTS, _SAID_TWICE = range(5)


class _State(NamedTuple):
    """What a group inherits from the one around it."""

    shown: int
    codec: str
    sink: list[str]
    unicode_width: int = 1  # characters that stand in for a Unicode one
    unseen: bool = False
    deleted: bool = False
    field: OfficeField | None = None
    before: int = _SHOWN  # what was shown around words that are written twice


def read_rtf(data: bytes) -> Gathered:
    """What an RTF document says."""
    return _Reader().read(data)


class _Reader:
    def __init__(self) -> None:
        self._gathered = Gathered()
        self._text, self._beside = self._gathered.pieces, self._gathered.beside
        self._title: list[str] = []
        self._fonts: dict[int, str] = {}
        self._ansi, self._default_font, self._defined = WESTERN, 0, 0
        self._state = _State(_SHOWN, self._ansi, self._text)
        self._loud = True  # the state of now shows its text
        self._around: list[_State] = []
        self._bytes = bytearray()  # not decoded yet: two of them may be one character
        self._to_skip = 0  # characters that stand in for the Unicode one before them
        self._starred = False

    def read(self, data: bytes) -> Gathered:
        position, left = 0, TOKENS_AT_MOST
        while 0 <= position < len(data) and left > 0:
            position, left = self._read_from(data, position, left)
        self._flush()
        return Gathered(_mended("".join(self._title)), [_mended(self._gathered.text)], [], self._gathered.links)

    def _read_from(self, data: bytes, position: int, left: int) -> tuple[int, int]:
        """Read on until bytes that are no RTF must be passed: where to go on (-1: nowhere), and how many tokens."""
        count = 0
        for count, match in enumerate(islice(_TOKEN.finditer(data, position), left), start=1):
            kind = match.lastindex
            if kind == 6:
                self._plain_text(match[6])
            elif kind == 5:
                if match[5] == b"{":
                    self._around.append(self._state)
                    self._to_skip = 0
                elif not self._close():
                    return -1, left
            elif kind == 3:
                self._plain_text(bytes.fromhex(match[3].replace(b"\\'", b"").decode()))
            elif kind == 4:
                self._symbol(match[4], data[max(0, match.start() - 3) : match.start()])
            elif kind is not None:
                word = match[1]
                if word == b"bin":
                    self._to_skip = max(0, self._to_skip - 1)
                    return match.end() + max(0, int(match[2] or 0)), left - count
                if self._starred or word in _KNOWN:
                    self._word(word.decode(), int(match[2]) if match[2] else None)
        return -1, left - count

    def _close(self) -> bool:
        """The end of a group; False for that of the document."""
        self._flush()
        self._to_skip = 0
        if not self._around:
            return False
        old, new = self._state, self._around.pop()
        if old is not new:
            if old.sink is not new.sink:
                old.sink.append(" ")
            if old.field is not new.field and old.field is not None:
                old.field.link_into(self._gathered)
            self._enter(new)
        return bool(self._around)

    def _word(self, word: str, number: int | None) -> None:
        starred, self._starred = self._starred, False
        if self._state.shown == _HIDDEN:
            return
        if self._state.shown == _DEFINES_FONTS:
            self._define_font(word, number)
        elif starred and word not in _READ:
            self._enter(self._state._replace(shown=_HIDDEN))
        elif (text := _CHARACTERS.get(word)) is not None:
            self._character(text)
        elif (handler := _WORDS.get(word)) is not None:
            handler(self, number)
        elif word in _DESTINATIONS:
            self._destination(word)

    def _symbol(self, symbol: bytes, before: bytes) -> None:
        self._starred = symbol == b"*" and before.rstrip(b"\r\n ").endswith(b"{")
        if symbol in b"\\{}":
            self._plain_text(symbol)
        elif symbol in _SYMBOLS:
            self._character(_SYMBOLS[symbol])

    # -- text

    def _plain_text(self, data: bytes) -> None:
        self._starred = False
        if not self._loud:
            return
        if self._to_skip:
            skipped = min(self._to_skip, len(data))
            self._to_skip -= skipped
            data = data[skipped:]
        self._bytes += data

    def _character(self, text: str) -> None:
        if not self._loud:
            return
        if self._to_skip:
            self._to_skip -= 1
            return
        self._flush()
        self._state.sink.append(text)

    def _unicode(self, number: int | None) -> None:
        if self._loud and number is not None and number <= 0x10FFFF:
            self._flush()
            self._state.sink.append(chr(number if number >= 0 else number % 0x10000))
        self._to_skip = self._state.unicode_width

    def _flush(self) -> None:
        if self._bytes:
            self._state.sink.append(self._bytes.decode(self._state.codec, "replace"))
            self._bytes.clear()

    def _enter(self, state: _State) -> None:
        if self._bytes:
            self._flush()
        self._state = state
        self._loud = state.shown == _SHOWN and not state.unseen and not state.deleted

    # -- what changes how text is read

    def _unicode_width(self, number: int | None) -> None:
        self._enter(self._state._replace(unicode_width=min(max(number or 0, 0), 16)))

    def _hide(self, number: int | None) -> None:
        self._enter(self._state._replace(unseen=number != 0))

    def _delete(self, number: int | None) -> None:
        self._enter(self._state._replace(deleted=number != 0))

    def _use_font(self, number: int | None) -> None:
        codec = self._fonts.get(number or 0) or self._ansi
        if codec != self._state.codec:
            self._enter(self._state._replace(codec=codec))

    def _use_defaults(self, _: int | None) -> None:
        codec = self._fonts.get(self._default_font) or self._ansi
        if self._state.codec != codec or self._state.unseen or self._state.deleted:
            self._enter(self._state._replace(codec=codec, unseen=False, deleted=False))

    def _set_default_font(self, number: int | None) -> None:
        self._default_font = number or 0

    def _code_page(self, number: int | None) -> None:
        self._ansi = by_number(number or 0)
        self._enter(self._state._replace(codec=self._ansi))

    def _define_font(self, word: str, number: int | None) -> None:
        if word == "f":
            self._defined = number or 0
        elif word == "fcharset":
            self._fonts[self._defined] = by_charset(number or 0)
        elif word == "cpg":
            self._fonts[self._defined] = by_number(number or 0)

    # -- destinations

    def _destination(self, word: str) -> None:
        state = self._state
        if word == _IN_UNICODE or state.shown == _SAID_TWICE:
            if word == _IN_UNICODE and state.shown == _SAID_TWICE:
                state = state._replace(shown=state.before)
        elif word == _TWICE:
            state = state._replace(shown=_SAID_TWICE, before=state.shown)
        elif word == _FIELD:
            state = state._replace(field=OfficeField())
        elif word == _INSTRUCTION and state.field is not None:
            state = state._replace(sink=state.field.instruction, shown=_SHOWN)
        elif word == _FONTS:
            state = state._replace(shown=_DEFINES_FONTS)
        elif word == _TITLE:
            if state.shown == _MAYBE:
                state = state._replace(shown=_SHOWN, sink=self._title)
        elif word in _BESIDE or word in _AGAIN:
            state = self._shown_again(word)
        else:
            state = state._replace(shown=_MAYBE if word in _MOSTLY_NOT else _HIDDEN)
        self._enter(state)

    def _shown_again(self, word: str) -> _State:
        self._flush()
        state = self._state
        if word in _AGAIN and state.shown == _MAYBE:
            state = state._replace(shown=_SHOWN)
        if word in _BESIDE and state.sink is self._text:
            self._beside.append(" ")
            state = state._replace(sink=self._beside)
        if word == "fldrslt" and state.field is not None:
            state.field.result_begins(state.sink)
        return state


def _mended(text: str) -> str:
    """Halves of characters put together."""
    return _SYMBOLS_OF_FONTS.sub(" ", _SURROGATES.sub(_whole, text))


def _whole(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


_DESTINATIONS = _NEVER | _READ | {_FONTS, _TITLE}
_OF_FONTS = ("f", "fcharset", "cpg")
_WORDS: dict[str, Callable[[_Reader, int | None], None]] = {
    "u": _Reader._unicode, "uc": _Reader._unicode_width, "f": _Reader._use_font, "plain": _Reader._use_defaults,
    "v": _Reader._hide, "deleted": _Reader._delete, "mvf": _Reader._delete, "ansicpg": _Reader._code_page,
    "deff": _Reader._set_default_font, "mac": lambda reader, _: reader._code_page(10_000),
    "pc": lambda reader, _: reader._code_page(437), "pca": lambda reader, _: reader._code_page(850),
}  # fmt: skip
_KNOWN = frozenset(word.encode() for word in (*_DESTINATIONS, *_WORDS, *_CHARACTERS, *_OF_FONTS))
