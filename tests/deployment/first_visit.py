"""Type `make run`, wait for what it prints, sign in with it, look at the documents, the search and the demo site, and
press Ctrl-C. Usage: python3.11 first_visit.py, in a clone of the project; needs nothing but Python."""

import http.cookiejar
import os
import re
import signal
import subprocess
import sys
import time
import urllib.parse
import urllib.request

READY = "Ctrl-C stops everything"
SECONDS = 900.0


def main() -> int:
    started = time.monotonic()
    command = ["make", "run"]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try:
        said = wait_until_ready(run)
        print(f"ready after {time.monotonic() - started:.0f} s", flush=True)
        visit(said)
        os.killpg(run.pid, signal.SIGINT)
        last, _ = run.communicate(timeout=60)
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
    print(last)
    if "Everything has stopped." not in last or run.returncode not in (0, -signal.SIGINT):  # make dies of Ctrl-C itself
        return fail(f"make run ended with {run.returncode}")
    return 0


def wait_until_ready(run: subprocess.Popen[str]) -> str:
    said = ""
    for line in run.stdout or ():
        print(line, end="", flush=True)
        said += line
        if READY in line:
            return said
    raise SystemExit(fail(f"make run ended with {run.wait()} before it was ready"))


def visit(said: str) -> None:
    address, site = (re.search(rf"{words}:\s+(http://\S+)", said)[1] for words in ("is ready", "may crawl"))
    password = re.search(r"^developer +(\S+)", said, re.M)[1]
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
    page = browser.open(address, timeout=30)
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.read().decode())[1]
    entered = {"csrfmiddlewaretoken": token, "username": "developer", "password": password}
    signed_in = browser.open(page.url, urllib.parse.urlencode(entered).encode(), timeout=30).read().decode()
    assert "Try it here" in browser.open(urllib.parse.urljoin(address, "documents/"), timeout=30).read().decode()
    assert "Sign out" in signed_in, "the sign-in that was printed does not open"
    assert browser.open(urllib.parse.urljoin(address, "search/"), timeout=30).status == 200
    assert browser.open(site, timeout=30).status == 200
    print("signed in, saw the documents, the search and the demo site", flush=True)


def fail(why: str) -> int:
    print(f"make fresh: {why}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, lambda *_: sys.exit(fail(f"nothing was ready after {SECONDS:.0f} s")))
    signal.alarm(int(SECONDS))
    sys.exit(main())
