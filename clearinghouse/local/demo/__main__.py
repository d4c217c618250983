"""python -m clearinghouse.local.demo: serve the demo site on its port until told to stop."""

import signal
import threading

from clearinghouse import env
from clearinghouse.operations import private_files

from .demo_server import open_site


def main() -> None:
    private_files.close_new_files()
    site = open_site(env.number("DEMO_PORT"))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=site.shutdown).start())
    with site:
        site.serve_forever(poll_interval=0.2)


main()
