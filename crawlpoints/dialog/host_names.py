"""What a host name stands for, asked once before a save: a URL inside a closed network is refused with a reason.

Who waits for a name holds a thread of the web server, so it is a look as any other: one a person, few a process, and
without it nothing is known. Never the last word: the crawler checks the address it really connects to, each time.
"""

import socket
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong

from clearinghouse.addresses import Address
from clearinghouse.addresses.networks import address_allowed
from clearinghouse.addresses.parsing import parse
from crawler.errors import TooManyAtOnce
from crawler.preview.look_limits import one_look

SECONDS = 1.5
_LOOKING = ThreadPoolExecutor(4, thread_name_prefix="names")


def is_private(url: str, saved_url: str = "") -> bool:
    """Whether none of the addresses of this host may be crawled; no when that is not known.

    A host that was saved before is not looked up again: an edit of something else must not fail because of it.
    """
    address, saved = parse(url.strip()), parse(saved_url)
    if not isinstance(address, Address) or (isinstance(saved, Address) and saved.host == address.host):
        return False
    try:
        with one_look():
            found = _addresses(address.host.strip("[]"), address.port)
    except TooManyAtOnce:
        return False
    return bool(found) and not any(address_allowed(one, address.port) for one in found)


def _addresses(host: str, port: int) -> list[str]:
    try:
        found = _LOOKING.submit(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM).result(SECONDS)
    except (OSError, UnicodeError, TookTooLong):
        return []
    return list(dict.fromkeys(str(one[4][0]).partition("%")[0] for one in found))
