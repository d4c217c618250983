"""Digest as curl's own tests want it answered: each Authorization they expect of a GET, from its challenge."""

import re
from pathlib import Path

from crawler.fetch.sign_in import digest_auth
from crawler.values import Credentials
from tests.sites.digest import fields
from tests.suites import Result

NAME = "curl, Digest"
FOLDER = "curl"

_CHALLENGE = re.compile(r"^WWW-Authenticate: *(.*)", re.MULTILINE | re.IGNORECASE)
_REQUEST = re.compile(r"^(GET|HEAD|PUT|POST|OPTIONS|DELETE) (\S+) HTTP/1\.\d\n((?:[\w-]+:.*\n)*)", re.MULTILINE)
_PAIR = re.compile(r"(?:-u|--user)\s+\"?([^\s:]+):([^\s\"]+)|//([^\s/:@]+):([^\s/@]+)@|login (\S+)\s+password (\S+)")
_PASSWORDS = ("testpass", "wrongpass", "test2pass", "apasswd", "a-lot", "password", "pass", "digest")
_NOT_COMPARED = {"test153", "test388", "test1286"}  # curl strips what it cannot foresee of these
_IN_CODE = {"test1686"}  # its passwords stand in a program
_DIFFERENT = {
    "test1437": "a parameter that is said twice is not answered: nobody can tell which one counts",
    "test3221": "a user name with a line break is never sent",
}


def run(folder: Path) -> Result:
    result = Result()
    for file in sorted((folder / "tests/data").glob("test*[0-9]"), key=lambda file: int(file.name[4:])):
        text = file.read_text("latin-1").replace("%TESTNUMBER", file.name[4:])
        if "Authorization: Digest" in text and "WWW-Authenticate" in text:
            _file(result, file.name, text)
    return result


def _file(result: Result, name: str, text: str) -> None:
    words = [word for pair in _PAIR.findall(text) for word in pair if word]
    challenges = [one for value in _CHALLENGE.findall(text) for one in digest_auth.digests([value])]
    for method, _, headers in _REQUEST.findall(text.partition("<verify>")[2]):
        found = re.search(r"^Authorization: (Digest .*)", headers, re.MULTILINE)
        if found is None or method != "GET":  # a crawler sends nothing else
            continue
        sent = fields(found[1])
        if name in _IN_CODE or (name in _NOT_COMPARED and "cnonce" in sent):
            continue
        fitting = [one for one in challenges if (one.realm, one.nonce) == (sent["realm"], sent["nonce"])]
        pairs = [(user, word) for user in (sent["username"], *words) for word in (*words, *_PASSWORDS)]
        answers = [_answer(one, sent, user, word) for one in fitting for user, word in pairs]
        if sent not in answers and name in _DIFFERENT:
            result.differ(_DIFFERENT[name])
        else:
            best = sent if sent in answers else (answers or [{"understood": "no challenge of it"}])[0]
            result.judge(f"{name} {sent['uri']}", best, sent)


def _answer(challenge: digest_auth.Challenge, sent: dict[str, str], user: str, password: str) -> dict[str, str]:
    """Our header as its parameters; the random one is theirs."""
    count = int(sent.get("nc", "1"), 16)
    credentials = Credentials(digest_auth.KIND, user, password)
    return fields(digest_auth.authorization(challenge, credentials, sent["uri"], count, sent.get("cnonce", "")))
