"""The files in deploy/ agree with the Procfile, with the settings there are, and with each other."""

import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from honcho.environ import parse_procfile
from ruamel.yaml import YAML

from clearinghouse import env
from tests.house.tree import BASE
from tests.requirements import need

DEPLOY = BASE / "deploy"
SCRIPTS = ("audit", "fresh", "install", "run", "test-packages")
NOT_OF_A_SERVER = {"demo", "redis"}  # the demo site; Redis is a server of its own there
PROCESSES = set(parse_procfile((BASE / "Procfile").read_text()).processes) - NOT_OF_A_SERVER


@cache
def compose() -> dict[str, Any]:
    """compose.yaml; the product itself needs no YAML parser."""
    return dict(YAML(typ="safe").load(DEPLOY / "compose.yaml"))


def ours() -> dict[str, Any]:
    return {name: one for name, one in compose()["services"].items() if "clearinghouse" in one["image"]}


def test_compose_starts_every_process_of_the_procfile_and_prepares_before() -> None:
    commands = {name: one["command"] for name, one in ours().items()}
    assert commands.pop("prepare") == ["ready"]
    assert commands == {name: [name] for name in PROCESSES}
    for name in PROCESSES:
        assert ours()[name]["depends_on"]["prepare"]["condition"] == "service_completed_successfully"


def test_our_containers_may_write_to_one_volume_only_and_gain_no_rights() -> None:
    for name, one in ours().items():
        assert one["read_only"] and one["cap_drop"] == ["ALL"], name
        assert one["security_opt"] == ["no-new-privileges:true"], name
        assert one["volumes"] == ["var:/var/lib/clearinghouse"] and one["tmpfs"] == ["/tmp"], name


def test_the_front_is_asked_for_the_health_of_both_web_processes_which_believe_only_it_and_the_gateway() -> None:
    front, web = compose()["services"]["front"], compose()["services"]["web"]
    asked = ["/healthz", "/readyz", "/sign-in/"]  # the first two are answered by public, the last one by web
    assert front["healthcheck"]["test"][1:] == [".venv/bin/python", "deploy/healthcheck.py", *asked]
    assert front["ports"] == ["127.0.0.1:8765:8765"] and "ports" not in web
    network = compose()["networks"]["default"]["ipam"]["config"][0]
    assert web["environment"]["CLEARINGHOUSE_BEHIND_PROXY"] == f"127.0.0.1,{network['gateway']}"


def test_no_container_gains_rights_and_every_server_says_how_it_is() -> None:
    for name, one in compose()["services"].items():
        assert one["security_opt"] == ["no-new-privileges:true"], name
    for name in ("front", "redis", "postgres"):
        assert compose()["services"][name]["healthcheck"]["test"][0] == "CMD"


def test_containers_and_units_wait_as_long_for_a_batch_to_be_stored() -> None:
    seconds = re.search(r"^TimeoutStopSec=(\d+)$", units()["clearinghouse@.service"], re.M)
    assert seconds and {one["stop_grace_period"] for one in ours().values()} == {f"{seconds[1]}s"}


def test_containers_that_run_under_nice_step_back_among_containers_too() -> None:
    lines = parse_procfile((BASE / "Procfile").read_text()).processes
    nice = {name for name, line in lines.items() if "nice " in line}
    assert {name for name, one in ours().items() if one.get("cpu_shares", 1024) < 1024} == nice


def test_every_database_of_compose_is_made() -> None:
    made = set(re.findall(r"^CREATE DATABASE (\w+) OWNER clearinghouse;", (DEPLOY / "databases.sql").read_text(), re.M))
    named = {name: value for name, value in ours()["web"]["environment"].items() if name.startswith("CLEARINGHOUSE_DB")}
    assert len(named) == 4
    assert {address.rpartition("/")[2] for address in named.values()} == made


def test_no_file_names_a_variable_that_does_not_exist() -> None:
    known = {env.PREFIX + one.name for one in env.SETTINGS}
    for path in DEPLOY.rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            named = set(re.findall(r"\bCLEARINGHOUSE_[A-Z_]*[A-Z]", path.read_text()))
            assert named <= known, path.name


def test_the_image_ends_as_nobody_in_particular_and_copies_what_exists() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    build, _, final = text.partition("FROM ${PYTHON}\n")
    assert re.search(r"^USER 10001$", final, re.M) and "CLEARINGHOUSE_ENV=production" in final
    assert final.index("USER 10001") < final.index("ENTRYPOINT")
    sources = [word for line in re.findall(r"^COPY (.+)$", build, re.M) for word in line.split()[:-1]]
    assert [source for source in sources if not (BASE / source).exists()] == []
    kept = re.findall(r"^!(.+)$", (DEPLOY / "Dockerfile.dockerignore").read_text(), re.M)
    assert sorted(kept) == sorted(sources)


def test_the_image_holds_everything_the_processes_import() -> None:
    """Each package and folder of the top level that runs is copied; tests and papers are not."""
    listed = subprocess.run(["git", "ls-files"], cwd=BASE, capture_output=True, text=True, check=True).stdout.split()
    folders = {name.split("/")[0] for name in listed if "/" in name} - {"tests", "docs", ".ci"}
    assert folders <= set(re.findall(r"^COPY (\w+) \w+$", (DEPLOY / "Dockerfile").read_text(), re.M))


def units() -> dict[str, str]:
    return {path.name: path.read_text() for path in (DEPLOY / "systemd").iterdir()}


def test_the_target_wants_every_process_of_the_procfile() -> None:
    wanted = re.findall(r"clearinghouse@([\w.-]+)\.service", units()["clearinghouse.target"])
    assert {re.sub(r"\.\d+$", "", name) for name in wanted} == PROCESSES


def test_both_services_are_shut_in_the_same_way() -> None:
    rules = []
    for name in ("clearinghouse@.service", "clearinghouse-ready.service"):
        rules.append(units()[name].partition("User=clearinghouse\n")[2])
    assert rules[0] == rules[1]
    for rule in ("NoNewPrivileges=yes", "ProtectSystem=strict", "PrivateTmp=yes", "CapabilityBoundingSet=\n",
                 "ReadWritePaths=/var/lib/clearinghouse\n", "CLEARINGHOUSE_ENV=production"):  # fmt: skip
        assert rule in rules[0]


def test_systemd_finds_no_fault_in_the_units(tmp_path: Path) -> None:
    """systemd-analyze wants users and programs that exist: those of this machine stand in for them."""
    need("systemd", shutil.which("systemd-analyze") is not None, "there is no systemd-analyze")
    for name, text in units().items():
        text = text.replace("/opt/clearinghouse/", f"{BASE}/").replace("=clearinghouse\n", "=daemon\n")
        (tmp_path / name).write_text(text.replace("StateDirectory=daemon", "StateDirectory=clearinghouse"))
    web = tmp_path / "clearinghouse@web.service"
    web.write_text((tmp_path / "clearinghouse@.service").read_text())
    command = ["systemd-analyze", "verify", str(web), str(tmp_path / "clearinghouse.target")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    ours = [line for line in done.stderr.splitlines() if "clearinghouse" in line]
    assert (done.returncode, ours) == (0, [])


@pytest.mark.parametrize(
    "command",
    [
        ("shellcheck", "deploy/run", "deploy/switch-public", *(f".ci/{name}" for name in SCRIPTS)),
        ("hadolint", "deploy/Dockerfile"),
        ("check-jsonschema", "--builtin-schema", "vendor.compose-spec", "deploy/compose.yaml"),
    ],
    ids=lambda command: command[0],
)
def test_linters_find_no_fault(command: tuple[str, ...]) -> None:
    linter = Path(sys.executable).with_name(command[0])  # in the virtual environment
    done = subprocess.run([linter, *command[1:]], cwd=BASE, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_scripts_are_programs() -> None:
    for name in ("run", "switch-public"):
        assert (DEPLOY / name).stat().st_mode & 0o111
        checked = subprocess.run(["sh", "-n", str(DEPLOY / name)], capture_output=True, check=False)
        assert checked.returncode == 0


def test_the_addresses_of_a_household_count_as_one_for_nginx_however_they_are_written() -> None:
    """Threat T49. Each is written as nginx does: noughts are left out, wherever most of them stand."""
    text = (DEPLOY / "nginx.conf").read_text()
    block = re.search(r"map \$remote_addr \$visitor_network \{(.*?)\n\}", text, re.S)[1]
    patterns = [re.compile(one.replace("(?<", "(?P<")) for one in re.findall(r'"~([^"]+)"', block)]

    def network(address: str) -> str:
        return next((found[1] for one in patterns if (found := one.match(address))), address)

    for first, second, visitor_key in (
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::7", "2001:db8:1:2:"),
        ("2001:db8::a:b:c:d", "2001:db8::1", "2001:db8"),
        ("2001:db8:1::a", "2001:db8:1::b", "2001:db8:1"),
    ):
        assert network(first) == network(second) == visitor_key
    assert network("2001:db8:1:3::7") != network("2001:db8:1:2::7")
    assert (network("203.0.113.7"), network("::ffff:203.0.113.7")) == ("203.0.113.7", "::ffff:203.0.113.7")
