"""Somebody who works: searches, signs in, launches; each of it once, and it must succeed."""

import http.client
import json
import re
from pathlib import Path
from urllib.parse import urlencode

WHO = "administrator"
_STYLESHEET = re.compile(r"/static/app[\w.]*\.css")
_TOKEN = re.compile(r'csrfmiddlewaretoken" value="(\w+)"')


class Worker:
    """Of a house with the demo, whose sign-ins lie in its folder."""

    def __init__(self, port: int, folder: Path, name: str = WHO) -> None:
        self._port, self.name = port, name
        lines = (folder / "demo-sign-ins").read_text().splitlines()
        self._password = next(line.split()[1] for line in lines if line.split()[:1] == [name])
        self.session = ""  # the cookies of the last sign-in

    def ask(self, path: str, method: str = "GET", body: str = "", **headers: str) -> tuple[int, str, list[str]]:
        """Status, text, cookies."""
        web = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            web.request(method, path, body or None, {"Host": "localhost"} | headers)
            answer = web.getresponse()
            cookies = [line.split(";")[0] for line in answer.headers.get_all("Set-Cookie", [])]
            return answer.status, answer.read().decode(errors="replace"), cookies
        finally:
            web.close()

    def search(self) -> None:
        status, text, _ = self.ask("/search/?q=quality")
        assert status == 200 and "</html>" in text, status

    def stylesheet(self) -> str:
        """Its address, as a page names it; it must be there."""
        found = _STYLESHEET.search(self.ask("/search/")[1])
        assert found and self.ask(found[0])[0] == 200
        return found[0]

    def healthz(self) -> None:
        assert self.ask("/healthz")[0] == 200

    def sign_in(self) -> None:
        _, page, cookies = self.ask("/sign-in/")
        found = _TOKEN.search(page)
        assert found
        fields = {"csrfmiddlewaretoken": found[1], "username": self.name, "password": self._password}
        kind = {"Cookie": "; ".join(cookies), "Content-Type": "application/x-www-form-urlencoded"}
        status, _, given = self.ask("/sign-in/", "POST", urlencode(fields), **kind)
        assert status == 302, status
        kept = dict(one.split("=", 1) for one in [*cookies, *given])  # signing in gives a new token
        self.session = "; ".join(f"{name}={value}" for name, value in kept.items())

    def launch(self, document: int) -> int:
        """The number of the run, which is told as soon as it is asked for."""
        body = json.dumps({"documents": [document], "speed": "fast"})
        status, text, _ = self.ask("/api/v1/runs/", "POST", body, **self.json_headers())
        assert status == 201, (status, text[:300])
        return int(json.loads(text)["id"])

    def json_headers(self) -> dict[str, str]:
        token = next((one.split("=", 1)[1] for one in self.session.split("; ") if one.startswith("csrftoken=")), "")
        return {"Cookie": self.session, "Content-Type": "application/json", "X-CSRFToken": token}
