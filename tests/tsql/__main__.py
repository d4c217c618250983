"""python -m tests.tsql [PYTEST ARGUMENTS]: what SQL Server would be sent while these tests run, held to its grammar.

Without arguments every folder whose tests use the databases of their own process: that takes half an hour.
test_statements.py runs a short choice that visits every screen and every step of a crawl and a propagation.
"""

import subprocess
import sys

from tests.on_postgres import FOLDERS


def main(arguments: list[str]) -> int:
    chosen = arguments or [f"tests/{name}" for name in FOLDERS]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.tsql.plugin", *chosen]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
