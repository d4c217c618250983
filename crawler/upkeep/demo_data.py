"""Owns: the demo data of a development install: people, documents, crawl points for the demo site.

Does not: overwrite anything; what a person changed or deleted stays so. Called by: the command load_demo.
"""

import os
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction

from clearinghouse import env
from clearinghouse.accounts.models import Role
from clearinghouse.accounts.services import add_person, reset_password
from clearinghouse.addresses import networks
from clearinghouse.addresses.roots import folder_of
from clearinghouse.library.models import Sheet
from clearinghouse.library.services import add_document, assign, project_named
from clearinghouse.local.demo import MEMBER
from crawlpoints.models import AuthType
from crawlpoints.services import add_crawl_point, add_exclude_url

DATA = Path(__file__).with_name("demo_data.toml")


def site() -> str:
    return f"http://127.0.0.1:{env.number('DEMO_PORT')}"


def sign_in_file() -> Path:
    return env.var() / "demo-sign-ins"


def load() -> dict[str, int]:
    """Make what is missing; says how much of each was made."""
    data = tomllib.loads(DATA.read_text().replace("{site}", site()))
    _open_the_door()
    made: Counter[str] = Counter(people=0, documents=0, crawl_points=0, exclude_urls=0)
    _people(data["person"], made)
    for one in data["document"]:
        # Also a deleted document counts as there: somebody did not want it.
        if not Sheet.everything.filter(title=one["title"]).exists():
            _document(one, made)
    return dict(made)


def _open_the_door() -> None:
    """Crawl points are refused where the crawler may not go; this process may go to the demo site."""
    door = f"127.0.0.1:{env.number('DEMO_PORT')}"
    if not networks.address_allowed("127.0.0.1", env.number("DEMO_PORT")):
        os.environ[f"{env.PREFIX}ALLOWED_NETWORKS"] = ",".join([*env.words("ALLOWED_NETWORKS"), door])
        networks.forget_settings()


def _people(people: list[dict[str, Any]], made: Counter[str]) -> None:
    """New accounts get random passwords. When the file with the passwords is lost, all of them get new ones."""
    users = get_user_model().objects.in_bulk([one["name"] for one in people], field_name="username")
    if len(users) == len(people) and sign_in_file().exists():
        return
    passwords = {}
    for one in people:
        if one["name"] in users:
            passwords[one["name"]] = reset_password(users[one["name"]], temporary=False)
            continue
        projects = [project for name in one["projects"] if (project := project_named(name))]
        names = {"first_name": one["first_name"], "last_name": one["last_name"]}
        _, passwords[one["name"]] = add_person(one["name"], Role(one["role"]), projects, temporary=False, **names)
        made["people"] += 1
    _write_sign_ins(people, passwords)


def _write_sign_ins(people: list[dict[str, Any]], passwords: dict[str, str]) -> None:
    lines = [f"{'Sign in as':<15} {'Password':<25} who"]
    lines += [f"{one['name']:<15} {passwords[one['name']]:<25} {one['may']}" for one in people]
    lines += ["", f"The demo site's members' area opens with {MEMBER[0]} / {MEMBER[1]}"]
    sign_in_file().unlink(missing_ok=True)
    handle = os.open(sign_in_file(), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write("\n".join(lines) + "\n")


@transaction.atomic
def _document(one: dict[str, Any], made: Counter[str]) -> None:
    document = add_document(
        one["title"],
        project=one["project"],
        public=one.get("public", True),
        status=one["status"],
        web_address=one.get("web_address", ""),
    )
    made["documents"] += 1
    for user in get_user_model().objects.filter(username__in=one.get("assigned", [])):
        assign(document, user)
    for values in one.get("points", []):
        add_crawl_point(document, _entries(dict(values)))
        made["crawl_points"] += 1
    for pattern in one.get("excludes", []):
        add_exclude_url(document, pattern)
        made["exclude_urls"] += 1


def _entries(values: dict[str, Any]) -> dict[str, Any]:
    if values.pop("member", False):
        values |= {"auth_type": AuthType.BASIC, "login": MEMBER[0], "password": MEMBER[1]}
    return {"root": folder_of(values["url"])} | values
