"""robots.txt as crawler-commons decides it: its parser's tests, read from their Java.

Read are the statements that say what a file means: texts put together from literals, rules made of them for a crawler,
and what is asserted of an address, of the delay and of the number of sitemaps. Its own interface (warnings, extensions,
names as patterns) is left out.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from crawler.policy.robots_file import decode
from crawler.policy.robots_rules import Robots
from tests.suites import Result
from tests.suites._source import STRING, blocks_of, unescaped

NAME = "crawler-commons, robots"
FOLDER = "crawler-commons"

_ENDS = {"LF": b"\n", "CR": b"\r", "CRLF": b"\r\n"}
_TEXT = re.compile(r"(?:final )?String (\w+) = (.+)", re.DOTALL)
_RULES = re.compile(rf"(?:BaseRobotRules )?(\w+) = createRobotRules\(({STRING}), (.+)\)", re.DOTALL)
_FILE = re.compile(rf"readFile\(({STRING})\)")
_LATIN = ".getBytes(StandardCharsets.ISO_8859_1)"
_SAYS = re.compile(rf"assert(True|False)\((\w+)\.isAllowed\(({STRING}|\w+)\)")
_SAYS_ROW = re.compile(r"assertEquals\((\w+), (\w+)\.isAllowed\((\w+)\)")
_DELAY = re.compile(r"assertEquals\(([\w.]+), (\w+)\.getCrawlDelay\(\)")
_SITEMAPS = re.compile(r"assertEquals\((\d+), (\w+)\.getSitemaps\(\)\.size\(\)")
_UNSET = "BaseRobotRules.UNSET_CRAWL_DELAY"
_DIFFERENT = {
    "testBigCrawlDelay": "a delay of an hour is taken for 30 s, not for a refusal of everything",
    "testNutchCases": "a crawler has one name here: no group is put together for five",
}


class _Method:
    """One test: its statements one after another, once for each row of its table."""

    def __init__(self, result: Result, resources: Path, name: str) -> None:
        self._result, self._resources, self._name = result, resources, name
        self._texts: dict[str, bytes] = {}
        self._rules: dict[str, Robots | None] = {}
        self._row: dict[str, str] = {}

    def run(self, statements: list[str], row: dict[str, str]) -> None:
        self._row = row
        self._texts |= {name: value.encode() for name, value in row.items()}
        for statement in statements:
            if found := _TEXT.fullmatch(statement):
                self._keep(found[1], self._text(found[2]))
            elif found := _RULES.fullmatch(statement):
                self._rules[found[1]] = self._made(found)
            else:
                self._assert(statement)

    def _keep(self, name: str, text: bytes | None) -> None:
        if text is None:
            self._texts.pop(name, None)
        else:
            self._texts[name] = text

    def _made(self, found: re.Match[str]) -> Robots | None:
        body = self._text(found[3].removesuffix(", true").removesuffix(", false"))
        return None if body is None else Robots(decode(body), unescaped(found[2]).decode())

    def _text(self, source: str) -> bytes | None:
        """What an expression of literals, ends of lines and names of texts comes to."""
        if file := _FILE.fullmatch(source):
            return (self._resources / unescaped(file[1]).decode().lstrip("/")).read_bytes()
        if source.endswith(_LATIN):
            body = self._texts.get(source.removesuffix(_LATIN))
            return None if body is None else body.decode().encode("latin-1")
        parts = [part for part in re.split(rf"({STRING})|\s*\+\s*", source.removesuffix(".getBytes(US_ASCII)")) if part]
        pieces = [
            unescaped(p) if p.startswith('"') else _ENDS.get(p.strip(), self._texts.get(p.strip())) for p in parts
        ]
        return None if None in pieces else b"".join(piece for piece in pieces if piece)

    def _assert(self, statement: str) -> None:
        if found := _SAYS.match(statement):
            url = unescaped(found[3]).decode() if found[3].startswith('"') else self._row.get(found[3], "")
            self._allowed(found[2], url, found[1] == "True")
        elif (found := _SAYS_ROW.match(statement)) and found[1] in self._row:
            self._allowed(found[2], self._row[found[3]], self._row[found[1]] == "True")
        elif (found := _DELAY.match(statement)) and (found[1][0].isdigit() or found[1] == _UNSET):
            wanted = None if found[1] == _UNSET else int(found[1].rstrip("L")) / 1000
            self._judge(found[2], "delay", lambda robots: robots.asked_delay, wanted)
        elif found := _SITEMAPS.match(statement):
            self._judge(found[2], "sitemaps", lambda robots: len(robots.sitemaps), int(found[1]))

    def _allowed(self, rules: str, url: str, wanted: bool) -> None:
        if url:
            self._judge(rules, url, lambda robots: robots.allowed(url)[0], wanted)

    def _judge(self, rules: str, what: str, ask: Callable[[Robots], object], wanted: object) -> None:
        robots = self._rules.get(rules)
        if robots is None:
            return
        ours = ask(robots)
        if ours != wanted and self._name in _DIFFERENT:
            self._result.differ(_DIFFERENT[self._name])
        else:
            self._result.judge(f"{self._name}: {what}", ours, wanted)


def run(folder: Path) -> Result:
    result = Result()
    source = (folder / "src/test/java/crawlercommons/robots/SimpleRobotRulesParserTest.java").read_text()
    source = re.sub(rf"({STRING})|//[^\n]*|/\*.*?\*/", lambda found: found[1] or "", source, flags=re.DOTALL)
    for head, body in blocks_of(source, r"(?s)(@(?:Test|ParameterizedTest)\b.*?void \w+\([^)]*\))"):
        name = re.search(r"void (\w+)", head)
        if name is None or "SimpleRobotRulesParser " in body or "for (" in body:
            continue
        statements = [" ".join(one.split()) if '"' not in one else one.strip() for one in _statements(body)]
        for row in _rows(head):
            _Method(result, folder / "src/test/resources", name[1]).run(statements, row)
    return result


def _statements(body: str) -> Iterator[str]:
    for part in re.findall(rf"(?:{STRING}|[^;\"])+", body):
        yield re.sub(r"^[\s{}]*", "", part)


def _rows(head: str) -> list[dict[str, str]]:
    """The table of a parameterized test; one row without anything for the others."""
    table = re.search(r"@CsvSource\(\{(.*?)\}\)", head, re.DOTALL)
    if table is None:
        return [{}]
    names = re.findall(r"(?:boolean|String) (\w+)", head[table.end() :])
    lines = [unescaped(one).decode("utf-8", "replace") for one in re.findall(STRING, table[1])]
    return [
        dict(zip(names, [cell.strip() for cell in row], strict=True))
        for row in csv.reader(io.StringIO("\n".join(lines)))
    ]
