"""The Redis and the PostgreSQL of compose.yaml, started here as the file says: nobody enters without a password, and we
enter as somebody who owns our databases and nothing else."""

import os
import subprocess
import time
from pathlib import Path

import pytest
import redis

from clearinghouse.local import redis_server
from tests.deployment.test_files import DEPLOY, compose, ours
from tests.postgres import Server, programs
from tests.requirements import need

PASSWORD = "5ecret"


def test_every_container_is_limited_and_signs_in() -> None:
    for name, one in compose()["services"].items():
        assert one["mem_limit"] and one["pids_limit"], name
    for one in ours().values():
        assert one["environment"]["POSTGRES_SUPERUSER_PASSWORD"] == ""
        assert "redis://:${REDIS_PASSWORD" in one["environment"]["CLEARINGHOUSE_REDIS_URL"]


def test_its_redis_lets_nobody_in_without_the_password(tmp_path: Path) -> None:
    (shell, option, script) = compose()["services"]["redis"]["command"]
    place = tmp_path / "redis.sock"
    script = script.replace("$$", "$").replace("'requirepass", f"'port 0\\nunixsocket {place}\\nrequirepass")
    script = script.replace("redis-server", str(redis_server.binary()))
    server = subprocess.Popen([shell, option, script], env=os.environ | {"REDIS_PASSWORD": PASSWORD}, cwd=tmp_path)
    try:
        deadline = time.monotonic() + 10
        while not place.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        with pytest.raises(redis.AuthenticationError):
            redis.Redis(unix_socket_path=str(place)).ping()
        signed_in = redis.Redis(unix_socket_path=str(place), password=PASSWORD)
        assert signed_in.ping()
        limits = signed_in.config_get("maxmemory*") | signed_in.config_get("save") | signed_in.config_get("appendonly")
        wanted = {"maxmemory": str(256 * 2**20), "maxmemory-policy": "noeviction", "save": "", "appendonly": "no"}
        assert wanted.items() <= limits.items()
        assert PASSWORD not in Path(f"/proc/{server.pid}/cmdline").read_text()
    finally:
        server.terminate()
        server.wait(timeout=10)


def test_its_postgresql_gives_us_our_databases_and_no_more() -> None:
    need("postgres", programs() is not None, "initdb, pg_ctl and postgres are not installed")
    server = Server.installed()
    assert server
    try:
        command = ["--no-psqlrc", "--set=ON_ERROR_STOP=1", "--file", str(DEPLOY / "databases.sql")]
        place = [f"--host={server.folder}", "--port=5432", "--username=tester", "--dbname=postgres"]
        done = subprocess.run(
            [server.programs / "psql", *command, *place],
            env=os.environ | {"LIBRARY_PASSWORD": "it's"}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        rights = "rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication"
        facts = f"SELECT {rights} FROM pg_roles WHERE rolname = 'clearinghouse'"
        assert server.execute(facts, database="postgres") == [(False,)]
        owned = "SELECT count(*) FROM pg_database JOIN pg_roles r ON r.oid = datdba WHERE rolname = 'clearinghouse'"
        assert server.execute(owned, database="postgres") == [(4,)]
    finally:
        server.stop()
