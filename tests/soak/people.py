"""Owns: the people of the house: a program with a key, a browser that is signed in. They do what they do until it is
done: an answer that did not come because the web server was just being killed is asked for again, and counted.

Does not: forgive anything else: an answer of 500 or more, or one that was not expected, is an error.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import requests
from lxml import html as markup

PATIENCE = 60.0
NAME, PASSWORD = "soak", "correct horse battery"


class Wrong(AssertionError):
    """An answer nobody may get."""


class Figures:
    """What was done and what went wrong, from several threads."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.errors: list[str] = []
        self._lock = threading.Lock()

    def add(self, name: str, count: int = 1) -> None:
        with self._lock:
            self.counts[name] += count

    def wrong(self, sentence: str) -> None:
        with self._lock:
            self.errors.append(sentence)


class Client:
    """One address of the house; `away` says whether the web server was killed or stopped a moment ago."""

    def __init__(self, address: str, key: str, away: Callable[[], bool], figures: Figures) -> None:
        self.address, self._away, self._figures = address, away, figures
        self._browser, self._program = requests.Session(), requests.Session()
        self._program.headers["Authorization"] = f"Bearer {key}"

    def sign_in(self) -> None:
        door = f"{self.address}/sign-in/"
        self.look("/sign-in/")
        entries = {"username": NAME, "password": PASSWORD, "csrfmiddlewaretoken": self._token()}
        answer = self._browser.post(door, entries, headers={"Referer": door}, timeout=PATIENCE)
        if answer.url.startswith(door):
            raise Wrong("nobody was let in")

    def look(self, path: str) -> requests.Response:
        """A page of a person; asked for again while the web server comes back."""
        self._figures.add("looks")
        return self._patiently(lambda: self._browser.get(self.address + path, timeout=PATIENCE), path)

    def ask(self, path: str) -> Any:
        return self._patiently(
            lambda: self._program.get(f"{self.address}/api/v1/{path}", timeout=PATIENCE), path
        ).json()

    def send(self, method: str, path: str, body: Any = None) -> requests.Response | None:
        """A change by program, sent once; None when nobody knows whether it arrived."""
        return self._once(
            lambda: self._program.request(method, f"{self.address}/api/v1/{path}", json=body, timeout=PATIENCE), path
        )

    def submit(self, path: str, entries: dict[str, str]) -> requests.Response | None:
        """A form as a browser sends it, once."""
        page = self.address + path
        values = entries | {"csrfmiddlewaretoken": self._token()}
        return self._once(lambda: self._browser.post(page, values, headers={"Referer": page}, timeout=PATIENCE), path)

    def form(self, path: str, field: str) -> dict[str, str]:
        """The entries of the form with this field, as the page shows them."""
        page = markup.fromstring(self.look(path).text)
        form = next(one for one in page.forms if field in one.fields)
        return {name: str(value) for name, value in form.form_values() if name != "csrfmiddlewaretoken"}

    def _token(self) -> str:
        return self._browser.cookies["csrftoken"]

    def _patiently(self, ask: Callable[[], requests.Response], path: str) -> requests.Response:
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self._once(ask, path)
            if answer is not None:
                return answer
            if time.monotonic() > deadline:
                raise Wrong(f"{path}: no answer for {PATIENCE:.0f} s")
            time.sleep(0.2)

    def _once(self, ask: Callable[[], requests.Response], path: str) -> requests.Response | None:
        try:
            answer = ask()
        except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError) as error:
            if not self._away():
                raise Wrong(f"{path}: {error}, and nobody had touched the web server") from error
            self._figures.add("refused while web was away")
            return None
        if answer.status_code >= 500 or "database is locked" in answer.text:
            raise Wrong(f"{path}: {answer.status_code} {answer.text[:300]}")
        return answer
