"""Owns: nginx with deploy/nginx.conf in front of a web process, and what a browser would ask of it.

The example is used as it stands; only what differs on every machine is put in its place: ports, certificates, folders.
Called by: test_running.
"""

import http.client
import ssl
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from clearinghouse.local import ports
from tests.house.tree import BASE
from tests.sites import certificates

MARK = "public-on-backup"


@dataclass
class Answer:
    status: int
    body: str
    headers: http.client.HTTPMessage = field(repr=False)

    @property
    def location(self) -> str:
        return self.headers.get("Location", "")


class Front:
    def __init__(self, folder: Path, var: Path, web: int, backup: int) -> None:
        self.plain, self.tls, self.mark = ports.any_free(), ports.any_free(), var / MARK
        folder.mkdir()
        folder.chmod(0o755)  # its workers are nobody
        certificates.make(folder)
        example = (BASE / "deploy" / "nginx.conf").read_text()
        places = [
            ("listen 80 default_server;", f"listen 127.0.0.1:{self.plain} default_server;", 1),
            ("listen 80;", f"listen 127.0.0.1:{self.plain};", 2),
            ("listen 443 ssl http2;", f"listen 127.0.0.1:{self.tls} ssl http2;", 2),
            ("/etc/ssl/clearinghouse/search.pem", f"{folder}/server.pem", 1),
            ("/etc/ssl/clearinghouse/search.key", f"{folder}/server.pem", 1),
            ("/etc/ssl/clearinghouse/staff.pem", f"{folder}/server.pem", 1),
            ("/etc/ssl/clearinghouse/staff.key", f"{folder}/server.pem", 1),
            ("/var/lib/nginx/clearinghouse", f"{folder}/static", 1),
            (f"-f /var/lib/clearinghouse/{MARK}", f"-f {self.mark}", 1),
            ("upstream clearinghouse_backup {\n    server 127.0.0.1:8765;",
             f"upstream clearinghouse_backup {{\n    server 127.0.0.1:{backup};", 1),
            ("server 127.0.0.1:8765;", f"server 127.0.0.1:{web};", 2),
        ]  # fmt: skip
        for old, new, count in places:
            assert example.count(old) == count, old
            example = example.replace(old, new)
        (folder / "example.conf").write_text(example)
        self.config = folder / "nginx.conf"
        temporary = "".join(
            f"  {kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        self.config.write_text(
            f"daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;\n"
            f"events {{}}\nhttp {{\n  access_log off;\n{temporary}  include {folder}/example.conf;\n}}\n"
        )
        self.kept = folder / "static"
        self._process: subprocess.Popen[bytes] | None = None

    def check(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["nginx", "-t", "-c", str(self.config)], capture_output=True, text=True, check=False)

    def start(self) -> None:
        self._process = subprocess.Popen(["nginx", "-c", str(self.config)], stderr=subprocess.DEVNULL)

    def stop(self) -> None:
        if self._process:
            self._process.terminate()
            self._process.wait(timeout=10)

    def get(self, host: str, path: str, **headers: str) -> Answer:
        return self.ask("GET", host, path, headers=headers)

    def ask(
        self, method: str, host: str, path: str, *, body: str = "", headers: dict[str, str] | None = None,
        plain: bool = False,
    ) -> Answer:  # fmt: skip
        """The answer of a server that is called `host`; over TLS unless plain."""
        if plain:
            door = http.client.HTTPConnection("127.0.0.1", self.plain, timeout=30)
        else:
            unverified = ssl._create_unverified_context()
            door = http.client.HTTPSConnection("127.0.0.1", self.tls, timeout=30, context=unverified)
        try:
            door.request(method, path, body=body or None, headers={"Host": host} | (headers or {}))
            answer = door.getresponse()
            return Answer(answer.status, answer.read().decode(errors="replace"), answer.headers)
        finally:
            door.close()
