"""The indexes and labels of the WHATWG Encoding Standard, with a decoder of each encoding written after its text.

Every byte, every pair of bytes, every triple of EUC-JP, and of GB 18030's fours all of the basic plane and one in 97 of
the others; ISO-2022-JP, which has states, in 20,000 strings of dice.
"""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

from crawler.extract.charsets.charset import as_utf8
from crawler.extract.charsets.charset_labels import encoding_of
from tests.suites import Result

NAME = "WHATWG Encoding Standard: labels and indexes"
FOLDER = "encoding"

Index = list[int | None]
Decoder = Callable[[bytes], str]
_BROKEN = "\ufffd"
_STRINGS = 20_000


def run(folder: Path) -> Result:
    result = Result()
    groups = json.loads((folder / "encodings.json").read_text())
    indexes = json.loads((folder / "indexes.json").read_text())
    for group in groups:
        for encoding in group["encodings"]:
            for label in encoding["labels"]:
                result.judge(f"label {label}", encoding_of(f"\t{label.upper()} "), encoding["name"].lower())
    for group in groups[1:2]:
        for encoding in group["encodings"]:
            _single(encoding["name"].lower(), indexes, result)
    for name, decode in _decoders(indexes).items():
        for piece in _pieces(name):
            result.judge(f"{name} {piece.hex(' ')}", as_utf8(piece, name)[0].decode(), decode(piece))
    return result


def _single(name: str, indexes: dict[str, Index], result: Result) -> None:
    index = indexes[name.removesuffix("-i")]
    for byte in range(256):
        theirs = chr(byte) if byte < 0x80 else _character(index, byte - 0x80)
        result.judge(f"{name} {byte:02x}", as_utf8(bytes([byte]), name)[0].decode(), theirs)


def _decoders(indexes: dict[str, Index]) -> dict[str, Decoder]:
    ranges: list[tuple[int, int]] = [tuple(pair) for pair in indexes["gb18030-ranges"]]  # type: ignore[misc, arg-type]
    return {
        "euc-kr": lambda data: _pairs(data, lambda lead, trail: _euc_kr(indexes["euc-kr"], lead, trail), 0x81),
        "big5": lambda data: _pairs(data, lambda lead, trail: _big5(indexes["big5"], lead, trail), 0x81),
        "shift_jis": lambda data: _shift_jis(data, indexes["jis0208"]),
        "euc-jp": lambda data: _euc_jp(data, indexes["jis0208"], indexes["jis0212"]),
        "gbk": lambda data: _gb18030(data, indexes["gb18030"], ranges),
        "gb18030": lambda data: _gb18030(data, indexes["gb18030"], ranges),
        "iso-2022-jp": lambda data: _iso_2022_jp(data, indexes["jis0208"]),
        "x-user-defined": lambda data: "".join(
            chr(byte) if byte < 0x80 else chr(0xF780 + byte - 0x80) for byte in data
        ),
    }


def _pieces(name: str) -> Iterator[bytes]:
    """What is decoded; a byte order mark would decide for another encoding."""
    if name == "iso-2022-jp":
        dice = random.Random(2022)
        alphabet = [
            b"\x1b",
            b"\x1b$B",
            b"\x1b$@",
            b"\x1b(B",
            b"\x1b(J",
            b"\x1b(I",
            b"$",
            b"(",
            b"\n",
            b"\x0e",
            b"\x80",
            b"\xff",
        ]
        alphabet += [bytes([byte]) for byte in range(0x20, 0x80)]
        for _ in range(_STRINGS):
            yield b"".join(dice.choices(alphabet, weights=[6] * 12 + [1] * 96, k=dice.randrange(1, 12)))
        return
    for lead in range(256):
        yield bytes([lead])
        for trail in range(256) if name != "x-user-defined" else ():
            if bytes([lead, trail]) not in (b"\xfe\xff", b"\xff\xfe"):
                yield bytes([lead, trail])
    if name == "euc-jp":
        for trail in range(0x10000):
            yield b"\x8f" + trail.to_bytes(2, "big")
    if name == "gb18030":
        for number in [*range(39_500), *range(39_500, 126 * 10 * 126 * 10, 97)]:
            yield _four(number)
        yield from (
            b"\x81\x30\x81",
            b"\x81\x30\x81a",
            b"\x81\x30a",
            b"\x81\x30\x80\x30",
            b"\xff\x30\x81\x30",
            b"\x81\x30\x81\x3a",
        )


def _four(number: int) -> bytes:
    rest, last = divmod(number, 10)
    rest, third = divmod(rest, 126)
    first, second = divmod(rest, 10)
    return bytes([0x81 + first, 0x30 + second, 0x81 + third, 0x30 + last])


def _character(index: Index, pointer: int | None) -> str:
    code = index[pointer] if pointer is not None and 0 <= pointer < len(index) else None
    return _BROKEN if code is None else chr(code)


def _pairs(data: bytes, pair: Callable[[int, int], str], first: int) -> str:
    """Encodings of one byte below 0x80 and of two otherwise; of a broken pair an ASCII trail is read again."""
    text, position = "", 0
    while position < len(data):
        lead = data[position]
        position += 1
        if lead < 0x80:
            text += chr(lead)
        elif not first <= lead <= 0xFE or position == len(data):
            text += _BROKEN
        else:
            trail = data[position]
            found = pair(lead, trail)
            text += found
            position += not (found == _BROKEN and trail < 0x80)
    return text


def _euc_kr(index: Index, lead: int, trail: int) -> str:
    return _character(index, (lead - 0x81) * 190 + trail - 0x41 if 0x41 <= trail <= 0xFE else None)


_TWO_FOR_ONE = {1133: "\u00ca\u0304", 1135: "\u00ca\u030c", 1164: "\u00ea\u0304", 1166: "\u00ea\u030c"}


def _big5(index: Index, lead: int, trail: int) -> str:
    if not (0x40 <= trail <= 0x7E or 0xA1 <= trail <= 0xFE):
        return _BROKEN
    pointer = (lead - 0x81) * 157 + trail - (0x40 if trail < 0x7F else 0x62)
    return _TWO_FOR_ONE.get(pointer) or _character(index, pointer)


def _shift_jis(data: bytes, index: Index) -> str:
    text, position = "", 0
    while position < len(data):
        lead = data[position]
        position += 1
        if lead <= 0x80:
            text += chr(lead)
        elif 0xA1 <= lead <= 0xDF:
            text += chr(0xFF61 - 0xA1 + lead)
        elif not (0x81 <= lead <= 0x9F or 0xE0 <= lead <= 0xFC) or position == len(data):
            text += _BROKEN
        else:
            trail, pointer = data[position], None
            if 0x40 <= trail <= 0x7E or 0x80 <= trail <= 0xFC:
                pointer = (lead - (0x81 if lead < 0xA0 else 0xC1)) * 188 + trail - (0x40 if trail < 0x7F else 0x41)
            own = pointer is not None and 8836 <= pointer <= 10715
            found = chr(0xE000 - 8836 + (pointer or 0)) if own else _character(index, pointer)
            text += found
            position += not (found == _BROKEN and trail < 0x80)
    return text


def _euc_jp(data: bytes, jis0208: Index, jis0212: Index) -> str:
    text, lead, third = "", 0, False
    queue = list(data)
    while queue:
        byte = queue.pop(0)
        if lead == 0x8E and 0xA1 <= byte <= 0xDF:
            text, lead = text + chr(0xFF61 - 0xA1 + byte), 0
        elif lead == 0x8F and 0xA1 <= byte <= 0xFE:
            third, lead = True, byte
        elif lead:
            inside = 0xA1 <= lead <= 0xFE and 0xA1 <= byte <= 0xFE
            index = jis0212 if third else jis0208
            found = _character(index, (lead - 0xA1) * 94 + byte - 0xA1 if inside else None)
            text, lead, third = text + found, 0, False
            if found == _BROKEN and byte < 0x80:
                queue.insert(0, byte)
        elif byte < 0x80:
            text += chr(byte)
        elif byte in (0x8E, 0x8F) or 0xA1 <= byte <= 0xFE:
            lead = byte
        else:
            text += _BROKEN
    return text + (_BROKEN if lead else "")


def _gb18030(data: bytes, index: Index, ranges: list[tuple[int, int]]) -> str:
    text, queue = "", list(data)
    while queue:
        first = queue.pop(0)
        if first < 0x80:
            text += chr(first)
        elif first == 0x80:
            text += "\u20ac"
        elif first == 0xFF or not queue:
            text += _BROKEN
        elif 0x30 <= queue[0] <= 0x39:
            found, taken = _gb18030_four(first, queue, ranges)
            text += found
            del queue[:taken]
        else:
            second = queue[0]
            offset = 0x40 if second < 0x7F else 0x41
            inside = 0x40 <= second <= 0x7E or 0x80 <= second <= 0xFE
            found = _character(index, (first - 0x81) * 190 + second - offset if inside else None)
            text += found
            del queue[: not (found == _BROKEN and second < 0x80)]
    return text


def _gb18030_four(first: int, rest: list[int], ranges: list[tuple[int, int]]) -> tuple[str, int]:
    """The character of four bytes, and how many of the rest it takes."""
    if len(rest) < 3:
        whole = len(rest) < 2 or 0x81 <= rest[1] <= 0xFE
        return _BROKEN, len(rest) if whole else 0
    if not 0x81 <= rest[1] <= 0xFE or not 0x30 <= rest[2] <= 0x39:
        return _BROKEN, 0
    pointer = ((first - 0x81) * 10 + rest[0] - 0x30) * 1260 + (rest[1] - 0x81) * 10 + rest[2] - 0x30
    if 39_419 < pointer < 189_000 or pointer > 1_237_575:
        return _BROKEN, 3
    if pointer == 7_457:
        return "\ue7c7", 3
    start, code = max(pair for pair in ranges if pair[0] <= pointer)
    return chr(code + pointer - start), 3


def _iso_2022_jp(data: bytes, index: Index) -> str:
    """The state machine of the standard, state for state."""
    text, state, output, flag, lead = "", "ascii", "ascii", False, 0
    queue: list[int] = list(data)
    while queue or state in ("trail", "start", "escape"):
        byte = queue.pop(0) if queue else -1
        if state == "start":
            if byte in (0x24, 0x28):
                lead, state = byte, "escape"
                continue
            queue[:0] = [byte] if byte >= 0 else []
            flag, state, text = False, output, text + _BROKEN
        elif state == "escape":
            found = _ESCAPES.get((lead, byte))
            if found is not None:
                state = output = found
                text, flag = text + (_BROKEN if flag else ""), True
                continue
            queue[:0] = [lead] + ([byte] if byte >= 0 else [])
            lead, flag, state, text = 0, False, output, text + _BROKEN
        elif byte == 0x1B:
            text += _BROKEN if state == "trail" else ""
            state = "start"
        elif state == "trail":
            state = "lead"
            text += _character(index, (lead - 0x21) * 94 + byte - 0x21 if 0x21 <= byte <= 0x7E else None)
        elif state == "lead" and 0x21 <= byte <= 0x7E:
            flag, lead, state = False, byte, "trail"
        else:
            flag = False
            text += _one(state, byte)
    return text


_ESCAPES = {
    (0x28, 0x42): "ascii", (0x28, 0x4A): "roman", (0x28, 0x49): "katakana", (0x24, 0x40): "lead", (0x24, 0x42): "lead",
}  # fmt: skip


def _one(state: str, byte: int) -> str:
    if state == "katakana":
        return chr(0xFF61 - 0x21 + byte) if 0x21 <= byte <= 0x5F else _BROKEN
    if state == "lead" or byte in (0x0E, 0x0F) or byte > 0x7F:
        return _BROKEN
    if state == "roman" and byte in (0x5C, 0x7E):
        return "\u00a5" if byte == 0x5C else "\u203e"
    return chr(byte)
