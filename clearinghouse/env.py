"""Owns: the environment variables of the product. Does not: decide anything. Called by: settings and processes.

Every setting is one row here; the README's table is checked against it by a test.
"""

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

PREFIX = "CLEARINGHOUSE_"
BASE = Path(__file__).resolve().parent.parent


class Setting(NamedTuple):
    name: str
    default: str
    meaning: str
    shape: str = ""  # what a value must look like, where that is simple: see _fits


SETTINGS = [
    Setting(
        "ENV",
        "development",
        "`production` refuses to start on a default key, DEBUG or an empty host list",
        "development|production",
    ),
    Setting("VAR", "var", "folder of all embedded state: databases, Redis, keys, logs"),
    Setting("SECRET_KEY", "", "Django's signing key; development makes one in the VAR folder"),
    Setting("DEBUG", "0", "1 shows tracebacks in the browser; refused in production", "0|1"),
    Setting("ALLOWED_HOSTS", "", "comma-separated host names of the web server; development allows localhost"),
    Setting("PUBLIC_URL", "", "address people use, for links in mails, like https://clearinghouse.example.org"),
    Setting(
        "INSECURE_COOKIES",
        "0",
        "1 lets a production server be used over plain http (sign-in cookies unprotected)",
        "0|1",
    ),
    Setting(
        "BEHIND_PROXY",
        "0",
        "whose X-Forwarded-Proto and -For are believed: 1 a reverse proxy on this machine; or its addresses, networks",
    ),
    Setting("TIME_ZONE", "UTC", "zone in which times are shown", "zone"),
    Setting("DB", "", "doc_library on content development: sqlite:///…, postgres://… or mssql://…"),
    Setting("DB_WEBCRAWL", "", "the WebCrawl database"),
    Setting("DB_PRIMARY", "", "doc_library of primary production"),
    Setting("DB_BACKUP", "", "doc_library of backup production"),
    Setting(
        "REDIS_URL",
        "",
        "Redis of the work queues; empty: the embedded server in the VAR folder",
        "redis://…|rediss://…|unix://…",
    ),
    Setting(
        "CREDENTIAL_KEYS",
        "",
        "id:base64 keys for site passwords, newest first, comma-separated, or file:/path of a file with them; "
        "development makes one",
    ),
    Setting("ALLOWED_NETWORKS", "", "networks or address:port the crawler may reach although they are not public"),
    Setting("ALLOWED_PORTS", "80,443,8000-8999", "ports the crawler may use elsewhere"),
    Setting("CONTACT", "", "address or mail in the crawler's User-Agent, so that site owners can reach you", "line"),
    Setting("SEARCH_CONTACT", "", "web or mail address that the public search names where it finds nothing"),
    Setting(
        "SEARCH_PER_MINUTE", "300", "searches a minute one address may send to a web process; 0: any number", "whole"
    ),
    Setting("SPEED", "polite", "speed of a run that names none: polite, medium or fast", "polite|medium|fast"),
    Setting("SPEEDS", "polite:1:1,medium:0.2:2,fast:0:16", "pause in seconds and connections per site, for each speed"),
    Setting("HOST_PATIENCE", "1800", "seconds after which the pages of a site that does not answer fail", "whole"),
    Setting("FREE_SPACE", "100", "megabytes that must be free beside the WebCrawl file; below it crawls wait", "whole"),
    Setting("MEMORY", "600", "megabytes beyond which a crawler process is replaced by a fresh one", "whole"),
    Setting(
        "SWITCH_COMMAND",
        "",
        "command that a load balancer follows: run with `primary` or `backup` as its last word",
    ),
    Setting(
        "SWITCH_URL",
        "",
        'address that is sent the same as JSON, `{"serving": "backup", "at": …}`, by POST',
        "http://…|https://…",
    ),
    Setting(
        "MAIL",
        "",
        "mail server of notices: smtp://user:password@host:587, smtps://… for TLS from the start",
        "smtp://…|smtps://…",
    ),
    Setting("MAIL_FROM", "clearinghouse@localhost", "sender of these mails"),
    Setting("BIND", "127.0.0.1", "address at which the front listens; 0.0.0.0 in a container"),
    Setting("PORT", "8765", "port of the front: of all pages", "port"),
    Setting("DEMO_PORT", "8766", "port of the demo site of `make run`", "port"),
    Setting("CRAWL_WORKERS", "1", "RQ workers for crawls that `make run` starts", "whole"),
    Setting("LOG_LEVEL", "INFO", "level of the logs on standard error", "DEBUG|INFO|WARNING|ERROR|CRITICAL"),
    Setting(
        "LOG_FORMAT",
        "text",
        "`text` for people, or `json`: one object a line, for programs that collect logs",
        "text|json",
    ),
    Setting("METRICS_TOKEN", "", "token that opens /metrics; without it only a development server answers its machine"),
    Setting(
        "KEEP",
        "runs:0,log:0,notices:365,previews:7,searches:800",
        "days that things are kept, 0: for ever; what is shown or needed for the next crawl is always kept",
    ),
    Setting("KEEP_LAST", "5", "newest crawls of each document that are kept however old they are", "whole"),
]
_WORDS = {
    "whole": "a whole number",
    "port": "a port, 1 to 65535",
    "zone": "a time zone like Europe/Vienna",
    "line": "one line",
}
_FLAGS = {"1": {"1", "true", "yes", "on"}, "0": {"0", "false", "no", "off"}}
_DEFAULTS = {setting.name: setting.default for setting in SETTINGS}


def text(name: str) -> str:
    return os.environ.get(PREFIX + name, "").strip() or _DEFAULTS[name]


def flag(name: str) -> bool:
    return text(name).lower() in _FLAGS["1"]


def number(name: str) -> int:
    value = text(name)
    if not value.isdigit():
        raise SystemExit(f"{PREFIX}{name} must be a whole number; it is {value!r}")
    return int(value)


def refuse_nonsense() -> None:
    """Before anything is begun: a typing mistake must not mean the default, nor come to light in the middle of a crawl.

    Raises SystemExit with a sentence. Lists have readers of their own, which do the same.
    """
    for setting in SETTINGS:
        value = text(setting.name)
        if value and not _fits(setting.shape, value):
            wanted = _WORDS.get(setting.shape) or setting.shape.replace("|", " or ")
            shown = "" if "://" in setting.shape else f"; it is {value!r}"  # an address may hold a password
            raise SystemExit(f"{PREFIX}{setting.name} must be {wanted}{shown}")


def _fits(shape: str, value: str) -> bool:
    if shape in {"whole", "port"}:
        return value.isascii() and value.isdigit() and (shape == "whole" or 0 < int(value[:9]) < 65536)
    if shape == "zone":
        return value == _DEFAULTS["TIME_ZONE"] or _zone_exists(value)
    if shape == "line":
        return value.isprintable()
    if not shape:
        return True
    if "://" in shape:
        return value.lower().startswith(tuple(shape.replace("…", "").split("|"))) and _port_is_one(value)
    return any(value.lower() in _FLAGS.get(one, {one.lower()}) for one in shape.split("|"))


def _port_is_one(address: str) -> bool:
    try:
        urlsplit(address).port  # noqa: B018
    except ValueError:
        return False
    return True


def _zone_exists(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return False
    return True


def words(name: str) -> list[str]:
    return [word.strip() for word in text(name).split(",") if word.strip()]


def production() -> bool:
    return text("ENV") == "production"


def var() -> Path:
    """The folder of all embedded state; made on first use, closed to other users: sessions and keys lie in it."""
    folder = Path(text("VAR"))
    folder = folder if folder.is_absolute() else BASE / folder
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        raise SystemExit(
            f"The folder {folder} cannot be made: {problem.strerror}. Let {PREFIX}VAR name one that can be written"
        ) from None
    return folder


def socket_file(name: str) -> Path:
    """Where a process of ours listens. The path of a socket has at most 107 bytes, so a VAR folder with a long one has
    its sockets in a folder for temporary files, in one of our own: in that of everybody somebody else could listen."""
    folder = var().resolve()
    if len(os.fsencode(folder / f"{name}.sock")) < 100:
        return folder / f"{name}.sock"
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    short = Path(tempfile.gettempdir()) / f"clearinghouse-{os.geteuid()}-{digest}"
    with suppress(FileExistsError):
        short.mkdir(mode=0o700)
    found = short.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise SystemExit(f"{short} must be a folder of ours alone. Remove it, or let {PREFIX}VAR name a shorter path")
    return short / f"{name}.sock"
