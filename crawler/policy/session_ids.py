"""Session ids in addresses: what a server wrote there to know a visitor again names no page. Pure.

A name alone does not say so: `sid=12` is an article, and a page taken for another is lost, while one found twice only
costs a request. So the value has to look like what servers make up.
"""

import re

HINT = re.compile(r"sess?ionid|sessid|sid=|cftoken|(?:/\(|/%28)", re.IGNORECASE)  # without it there is none
_OWN_NAMES = frozenset({"phpsessid", "jsessionid", "cfid", "cftoken"})  # that nothing else is called
_ASP = re.compile(r"aspsessionid[a-z]{8}")
_ID = re.compile(r"[A-Za-z0-9,._~!+%:=|*@$-]{1,500}")
_CHANGE = re.compile(r"(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])")  # between a digit and a letter
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_UUID = re.compile(r"(?:[0-9a-f]{4}){1,2}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE)
_LONG, _SHORT = 16, 8  # characters of an id: where other things have the name, too, and where nothing else has it
_CHANGES = 3
_NUMBER = re.compile(r"[0-9]{6,}")  # a CFTOKEN is one
_IN_PATH = re.compile(r";([^;/=]*)=([^;/]*)")
# ASP.NET without cookies: a folder of its own, (S(…)), also with what else it knows of the visitor, (X(1)A(…)F(…)S(…)).
_FOLDER = re.compile(
    r"/(?:\((?:X\([01]\)|S\([a-z0-9]{24}\)|[AF]\([\w-]{20,}\))+\)|\((?=[a-z]*[0-5])[a-z0-5]{24}\))(?=/|$)"
    .replace(r"\(", r"(?:\(|%28)").replace(r"\)", r"(?:\)|%29)"), re.IGNORECASE,
)  # fmt: skip


def without_sessions(path: str, query: str) -> tuple[str, str]:
    """Both without the session ids in them."""
    if "/(" in path or "/%28" in path:
        path = without_folder(path) or "/"
    if ";" in path:
        path = _IN_PATH.sub(lambda found: "" if is_session(found[1], found[2]) else found[0], path)
    if "=" not in query:
        return path, query
    pairs = [(part, *part.partition("=")[::2]) for part in query.split("&")]
    cold = any(name.lower() == "cftoken" and is_session(name, value) for _, name, value in pairs)
    kept = [part for part, name, value in pairs if not (is_session(name, value) or (cold and name.lower() == "cfid"))]
    return path, "&".join(kept)


def without_folder(text: str) -> str:
    """An address or a path without the folder of a session."""
    return _FOLDER.sub("", text)


def is_session(name: str, value: str) -> bool:
    """Whether servers make up such a parameter for a visitor. A CFID is a short number: its CFTOKEN tells."""
    name = name.lower()
    if not _ID.fullmatch(value):
        return False
    if _ASP.fullmatch(name):
        return len(value) >= _LONG
    if name == "sid":
        return _made_up(value, _LONG)
    if name == "cftoken" and _NUMBER.fullmatch(value):
        return True
    return name in _OWN_NAMES and (_made_up(value, _SHORT) or (len(value) >= _LONG and "-" not in value))


def _made_up(value: str, length: int) -> bool:
    """Letters and digits that take turns: words, numbers, dates and versions of them do so once or twice."""
    if _UUID.fullmatch(value):
        return True
    changes, humps = len(_CHANGE.findall(value)), len(_HUMP.findall(value))
    enough = changes >= _CHANGES or (changes == _CHANGES - 1 and humps >= 2 * changes)
    return len(value) >= length and (enough if length == _LONG else changes > 0)
