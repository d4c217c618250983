"""The body of one answer while it comes in: unpacked, cut or refused at its limit, and judged at its end.

The same for every transport. Sizes are counted on the bytes that come out of unpacking.
"""

from crawler.values import Fetched, Request

from . import crash_note, decoding, transfer_outcome
from .size_limits import UNUSED, SizeLimit, limit_of


class ResponseBody:
    def __init__(self, request: Request, status: int, headers: list[tuple[str, str]], mark: bytes = b"") -> None:
        self.stopped: tuple[str, str] | None = None  # reason and detail: what came is of no use
        self.enough = False  # we ended it ourselves, and what came counts
        self.truncated = False
        self._request = request
        self._status = status
        self._headers = headers
        self._mark = mark  # noted while libraries in C unpack what a stranger sent
        self._begun = False
        self._decoder: decoding.Decoder | None = None
        self._limit: SizeLimit | None = None
        self._size = 0
        self._pieces: list[bytes] = []

    def write(self, chunk: bytes) -> bool:
        """Take bytes as they come over the wire; False: no more of them, please."""
        try:
            if not self._begun:
                self._begun = True
                self._decoder = self._choose_decoder(chunk)
            if self._decoder is None:
                return self._take(chunk)
            crash_note.begin(self._mark)
            try:
                return all(self._take(piece) for piece in self._decoder.feed(chunk) if piece)
            finally:
                crash_note.end()
        except decoding.BadEncoding:
            self.stopped = "decode_failed", "the body cannot be decompressed"
            return False

    def end(self) -> tuple[str, str]:
        """Reason and detail of a body that came to its end; empty when it is whole, or cut where we wanted."""
        if self.stopped:
            return self.stopped
        if self._decoder is not None and not self.enough and not self._decoder.whole():
            return "decode_failed", "the compressed body ends too early"
        return "", ""

    @property
    def empty(self) -> bool:
        return self._limit is None

    def content(self) -> bytes:
        return self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)

    def _choose_decoder(self, beginning: bytes) -> decoding.Decoder | None:
        encodings = decoding.encodings_of(self._headers)
        if not encodings or not 200 <= self._status < 300:
            return None  # errors and redirects are never looked into
        if self._request.identity_encoding and not decoding.looks_encoded(beginning, encodings):
            return None  # plain, as asked; only the header is wrong
        return decoding.Decoder(encodings)

    def _declared(self) -> int:
        """The length of the body as its headers say; 0 when they do not, or not of what comes out of unpacking."""
        fields = dict(self._headers)
        length = fields.get("content-length", "")
        plain = self._decoder is None and "transfer-encoding" not in fields
        return int(length[:18]) if plain and length.isascii() and length.isdigit() else 0

    def _take(self, piece: bytes) -> bool:
        limit = self._limit
        if limit is None:
            limit = self._limit = limit_of(self._status, self._headers, self._request, piece)
            if limit.size and limit.reason and self._declared() > limit.size:  # no need to fetch what is of no use
                self.stopped = limit.reason, limit.detail
                return False
        size = self._size + len(piece)
        if size <= limit.size:
            self._size = size
            if limit.keep:
                self._pieces.append(piece)
            return True
        if limit.reason:
            self.stopped = limit.reason, limit.detail
            return False
        self.enough = True
        if limit is not UNUSED:
            self.truncated = True
            self._pieces.append(piece[: limit.size - self._size])
        return False


def judge(answer: Fetched, body: ResponseBody | None) -> tuple[str, str]:
    """Reason and detail of an answer whose transfer ended well; a body of None never came."""
    if body is not None:
        reason, detail = body.end()
        if reason:
            return reason, detail
    if (body is None or body.empty) and answer.status >= 200:  # the headers are judged alone
        limit = limit_of(answer.status, answer.headers, answer.request, b"")
        if limit.size == 0 and answer.status != 204 and limit.reason:
            return limit.reason, limit.detail
    return transfer_outcome.of_answer(answer)
