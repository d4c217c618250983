"""manage.py of the product, in which some bodies are deadly to unpack, and batches are written every SECONDS:
python -m tests.sites.deadly_unpacker SECONDS crawl …

A page says so itself, as a real one would bring a library in C down.
"""

import ctypes
import os
import sys
import zlib
from collections.abc import Iterator

import django

from crawler.fetch import decoding
from manage import main

_feed = decoding._Gzip.feed


def _deadly(self: decoding._Gzip, data: bytes) -> Iterator[bytes]:
    if b"kills its loop" in zlib.decompress(data, wbits=31):
        ctypes.string_at(0)  # a segmentation fault
    return _feed(self, data)


if __name__ == "__main__":
    decoding._Gzip.feed = _deadly  # type: ignore[method-assign]
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clearinghouse.settings")
    django.setup()
    from crawler.engine import loop

    loop.BATCH_SECONDS = float(sys.argv.pop(1))
    sys.argv[0] = "manage.py"
    main()
