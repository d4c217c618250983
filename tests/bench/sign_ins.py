"""Passwords tried by a program, and people who search meanwhile: what each try costs, how long a search takes.

python -m tests.bench.sign_ins [--names 24] [--rounds 3] [--threads 8]

One address tries as many names as are asked for, each once a round, from several threads; the web server is that of
the Procfile. Printed: how many tries were looked at and refused, the processor time the web processes took for them,
and how long a search took, alone and meanwhile.
"""

import argparse
import re
import statistics
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import requests

from tests.flow.house import House, until

SEARCH = "/search/?q=quality"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=8)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        house = House(Path(folder))
        try:
            house.manage("prepare")
            house.manage("load_demo")
            measure(house, given)
        finally:
            house.close()


def measure(house: House, given: argparse.Namespace) -> None:
    bind = f"127.0.0.1:{house.port}"
    line = ("--workers", "2", "--threads", "4", "--no-control-socket", "--log-level", "error")
    house.start("gunicorn", "clearinghouse.wsgi", "--bind", bind, *line)
    until(lambda: _answers(f"http://{bind}/healthz"), "the web server answers", 60)
    address = f"http://{bind}"
    alone = searches(address, threading.Event(), least=20)
    ended, before, began = threading.Event(), processor(house), time.perf_counter()
    with ThreadPoolExecutor(given.threads + 1) as pool:
        meanwhile = pool.submit(searches, address, ended)
        names = [f"name{number}" for _ in range(given.rounds) for number in range(given.names)]
        codes = list(pool.map(lambda name: tried(address, name), names))
        ended.set()
        found = meanwhile.result()
    seconds, cost = time.perf_counter() - began, processor(house) - before
    looked_at = codes.count(422)
    print(f"{len(codes)} tries in {seconds:.1f} s: {looked_at} looked at, {len(codes) - looked_at} refused")
    print(f"processor: {cost:.1f} s, {cost / len(codes) * 1000:.0f} ms a try")
    for label, times in (("alone", alone), ("meanwhile", found)):
        print(f"a search {label}: {statistics.median(times):.0f} ms, longest {max(times):.0f} ms")


def searches(address: str, ended: threading.Event, least: int = 1) -> list[float]:
    times: list[float] = []
    while len(times) < least or not (ended.is_set() or least > 1):
        began = time.perf_counter()
        requests.get(address + SEARCH, timeout=60).raise_for_status()
        times.append((time.perf_counter() - began) * 1000)
        time.sleep(0.02)
    return times


def tried(address: str, name: str) -> int:
    with requests.Session() as browser:
        page = browser.get(f"{address}/sign-in/", timeout=60).text
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        assert token
        sent = {"csrfmiddlewaretoken": token[1], "username": name, "password": "Summer2026!"}
        return browser.post(f"{address}/sign-in/", sent, timeout=60).status_code


def processor(house: House) -> float:
    """Seconds that the web processes have used so far."""
    ticks = 0
    for pid, line in house.processes().items():
        if "gunicorn" in line:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / 100


def _answers(address: str) -> bool:
    try:
        return requests.get(address, timeout=2).ok
    except requests.RequestException:
        return False


if __name__ == "__main__":
    main()
