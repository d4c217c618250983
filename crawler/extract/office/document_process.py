"""The child process that reads PDF and office documents: their readers are large, and their input is hostile.

Memory and CPU are bounded here, time by the parent (see documents). One job after another arrives on standard input:
a line of JSON {"type", "size"}, then the bytes; each answer is its size in four bytes and then that much JSON.
"""

import json
import resource
import struct
import sys
import zipfile
import zlib
from typing import BinaryIO

from clearinghouse.published import types

from ..gathered import Gathered
from ..plain_text import TEXT_AT_MOST, squeezed
from . import office_documents, pdf, rtf
from .zip_package import TooMuch

MEMORY = 1_000_000_000  # bytes of address space, the interpreter and its libraries included
CPU_SECONDS = 10  # for one document
# What the readers raise for documents that are not what they should be.
_BROKEN = (
    zipfile.BadZipFile, zlib.error, TooMuch, SyntaxError, ValueError, KeyError, RuntimeError, EOFError, OSError,
)  # fmt: skip


def main() -> None:
    """Serve until the parent closes the pipe."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing a library prints may get between the answers
    while (head := requests.readline()) and (job := json.loads(head)):
        _bound_cpu()
        _answer(answers, _read(job["type"], requests.read(job["size"])))


def _bound_cpu() -> None:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used = int(usage.ru_utime + usage.ru_stime)
    resource.setrlimit(resource.RLIMIT_CPU, (used + CPU_SECONDS, resource.RLIM_INFINITY))


def _read(type_id: int, data: bytes) -> Gathered:
    """What a document says; nothing at all when it is broken. What is worse than broken ends this process."""
    try:
        if type_id == types.PDF:
            return pdf.read_pdf(data)
        if type_id == types.RTF:
            return rtf.read_rtf(data)
        return office_documents.read_zip(data)
    except _BROKEN:
        return Gathered()


def _answer(answers: BinaryIO, gathered: Gathered) -> None:
    text = squeezed(gathered.text)[: TEXT_AT_MOST + 1]
    links = [(address, squeezed(anchor)) for address, anchor in gathered.links]
    data = json.dumps({"title": squeezed(gathered.title), "text": text, "links": links}).encode()
    answers.write(struct.pack("<I", len(data)) + data)
    answers.flush()


if __name__ == "__main__":
    main()
