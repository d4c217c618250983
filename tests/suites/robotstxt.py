"""robots.txt as Google's own parser decides it: the assertions of robots_test.cc, read from its C++."""

import re
from pathlib import Path

from crawler.policy.robots_rules import Robots
from tests.suites import Result
from tests.suites._source import STRING, blocks_of, joined

NAME = "Google robotstxt, robots_test.cc"
FOLDER = "robotstxt"

_VARIABLE = re.compile(rf"(?:absl::string_view|std::string)\s+(\w+)\s*=\s*((?:{STRING}\s*)+);")
_ASSERTION = re.compile(
    rf"EXPECT_(TRUE|FALSE)\(\s*IsUserAgentAllowed\(\s*(\w+|{STRING}),\s*({STRING}),\s*(\w+|(?:{STRING}\s*)+)\s*\)\s*\)"
)
_EMPTY = "an empty address is never asked for"
_NAMES = "every name on a line of agents counts, not the first alone"
_CANONICAL = "addresses are canonical before they are judged: %62 is b, and ツ is %E3%83%84"


def run(folder: Path) -> Result:
    result = Result()
    for test, block in blocks_of((folder / "robots_test.cc").read_text(), r"TEST\(RobotsUnittest, (\w+)\)"):
        values: dict[str, str] = {}
        for found in re.finditer(f"{_VARIABLE.pattern}|{_ASSERTION.pattern}", block):
            variable, value, expected, text, agent, url = found.groups()
            if variable:
                values[variable] = joined(value)
                continue
            texts = [joined(one) if one.startswith('"') else values.get(one) for one in (text, agent, url)]
            if None not in texts:  # else put together by code: lines of 16 KB
                _judge(result, test, [str(one) for one in texts], expected == "TRUE")
    return result


def _judge(result: Result, test: str, case: list[str], theirs: bool) -> None:
    text, agent, url = case
    ours = Robots(text, agent).allowed(url)[0] if url else None
    if ours == theirs or not (test == "ID_Encoding" or " " in agent or not url):
        result.judge(f"{test}: {agent} {url}", ours, theirs)
    else:
        result.differ(_CANONICAL if test == "ID_Encoding" else _NAMES if url else _EMPTY)
