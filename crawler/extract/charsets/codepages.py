"""Code pages as Windows and RTF number them: the codec that reads each."""

import codecs
from functools import lru_cache

WESTERN = "cp1252"
# \fcharset of RTF; 1 is "the document's own".
_CHARSETS = {
    0: 1252, 77: 10_000, 78: 932, 79: 949, 80: 936, 81: 950, 83: 10_005, 84: 10_004, 85: 10_006, 86: 10_081,
    87: 10_021, 88: 10_029, 89: 10_007, 128: 932, 129: 949, 130: 1361, 134: 936, 136: 950, 161: 1253, 162: 1254,
    163: 1258, 177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250, 254: 437, 255: 850,
}  # fmt: skip
_CODECS = {
    708: "iso8859_6", 1361: "johab", 10_000: "mac_roman", 10_001: "shift_jis", 10_002: "big5", 10_003: "euc_kr",
    10_004: "mac_arabic", 10_005: "iso8859_8", 10_006: "mac_greek", 10_007: "mac_cyrillic", 10_008: "gb2312",
    10_021: "cp874", 10_029: "mac_latin2", 10_079: "mac_iceland", 10_081: "mac_turkish", 20_866: "koi8_r",
    20_932: "euc_jp", 21_866: "koi8_u", 28_605: "iso8859_15", 51_932: "euc_jp", 51_936: "gb2312", 51_949: "euc_kr",
    54_936: "gb18030", 65_001: "utf-8",
}  # fmt: skip


def by_charset(number: int) -> str:
    """The codec of a font's character set; nothing for the document's own."""
    return by_number(_CHARSETS[number]) if number in _CHARSETS else ""


@lru_cache(maxsize=256)
def by_number(number: int) -> str:
    """The codec of a code page; that of Western Europe for one nobody knows."""
    name = _CODECS.get(number) or f"cp{number}"
    if 28_591 <= number <= 28_603:
        name = f"iso8859_{number - 28_590}"
    try:
        return codecs.lookup(name).name
    except LookupError:
        return WESTERN
