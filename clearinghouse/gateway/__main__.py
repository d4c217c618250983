"""The line `front` of the Procfile: listens at CLEARINGHOUSE_BIND and CLEARINGHOUSE_PORT until it is asked to end."""

import asyncio
import gc
import resource
import signal
import sys
from contextlib import suppress

from clearinghouse import env

from .visitor_connections import MOST_CONNECTIONS, Front

ENDING_SECONDS = 3.0  # for what is under way


async def serve() -> None:
    front, ended = Front(), asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    try:
        server = await asyncio.start_server(front.welcome, env.text("BIND"), env.number("PORT"), backlog=1024)
    except OSError as problem:
        sys.exit(f"The port {env.number('PORT')} cannot be opened: {problem.strerror}")
    await ended.wait()
    server.close()
    with suppress(TimeoutError):
        await asyncio.wait_for(front.at_rest(), ENDING_SECONDS)


def main() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4 * MOST_CONNECTIONS  # a connection, one to a process, two files
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
    gc.freeze()
    asyncio.run(serve())


if __name__ == "__main__":
    main()
