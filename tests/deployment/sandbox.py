"""Owns: a machine as the deployment files make it: no file may be written but in two folders, and by nobody.

Like a container with a read-only root, or ProtectSystem=strict: the whole tree of files is read-only in here, the VAR
folder and a folder for temporary files excepted, and every process runs as `nobody`. Of root's rights it has one, that
of reading (Python or the project may lie in a folder that is shut to others), and can gain no other.
Called by: test_running.
"""

import base64
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from clearinghouse.local import ports
from tests.house.tree import BASE

STAFF, PUBLIC = "clearinghouse.example.org", "search.example.org"
_SHUT = 'mount --bind "$1" "$1" && mount --bind "$2" "$2" && mount -o remount,bind,ro / && shift 2 && exec "$@"'


@cache
def possible() -> bool:
    if not shutil.which("unshare") or not shutil.which("setpriv"):
        return False
    return subprocess.run([*_enter(), "mount", "-o", "remount,bind,ro", "/"], capture_output=True).returncode == 0


def _enter() -> list[str]:
    return ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]


def _nobody() -> list[str]:
    if os.geteuid() != 0:
        return ["setpriv", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]
    account, read = pwd.getpwnam("nobody"), "-all,+dac_read_search"
    rights = ["--no-new-privs", f"--bounding-set={read}", f"--inh-caps={read}", f"--ambient-caps={read}"]
    return ["setpriv", *rights, f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups"]


class Sandbox:
    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sandbox-"))  # a short name: Redis listens on a socket in it
        self.folder.chmod(0o711)
        self.var, self.temporary = self.folder / "var", self.folder / "tmp"
        for one in (self.var, self.temporary):
            one.mkdir(mode=0o711)
            if os.geteuid() == 0:
                shutil.chown(one, "nobody")
        self.port = ports.any_free()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("CLEARINGHOUSE_", "DJANGO_"))}
        self.env = kept | {
            "CLEARINGHOUSE_ENV": "production",
            "CLEARINGHOUSE_VAR": str(self.var),
            "CLEARINGHOUSE_PORT": str(self.port),
            "CLEARINGHOUSE_ALLOWED_HOSTS": f"{STAFF},{PUBLIC}",
            "CLEARINGHOUSE_PUBLIC_URL": f"https://{STAFF}",
            "CLEARINGHOUSE_SECRET_KEY": secrets.token_urlsafe(50),
            "CLEARINGHOUSE_CREDENTIAL_KEYS": "k1:" + base64.b64encode(secrets.token_bytes(32)).decode(),
            "CLEARINGHOUSE_BEHIND_PROXY": "1",
            "TMPDIR": str(self.temporary),
            "HOME": "/nonexistent",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self.started: list[subprocess.Popen[bytes]] = []

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def run(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """A command in here, from the project's folder, to its end."""
        command = self._inside(*words)
        return subprocess.run(
            command, cwd=BASE, env=self.env | more, capture_output=True, text=True, check=False, timeout=120
        )

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                self._inside(*words), cwd=BASE, env=self.env, stdout=log, stderr=log, start_new_session=True
            )
        self.started.append(process)
        return process

    def _inside(self, *words: str) -> list[str]:
        shut = ["sh", "-c", _SHUT, "sh", str(self.var), str(self.temporary)]
        return [*_enter(), *shut, *_nobody(), *words]

    def close(self) -> None:
        for process in reversed(self.started):
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(timeout=5)
        shutil.rmtree(self.folder, ignore_errors=True)
