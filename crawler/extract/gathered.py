"""What is gathered from a document on the way through it, with bounds: title, words, links."""

import re
from dataclasses import dataclass, field

from .packed_links import LINKS_AT_MOST
from .plain_text import TEXT_AT_MOST

ADDRESS_AT_MOST, ANCHOR_AT_MOST = 5_000, 1_000
_INSTRUCTION = re.compile(r'"([^"]*)"|\\(\w)|([^\s"\\]\S*)')
_WITH_ARGUMENT = frozenset("lot")  # switches of HYPERLINK that are followed by a word of theirs


class Enough(Exception):
    """There is more text than is kept."""


@dataclass(slots=True)
class Gathered:
    title: str = ""
    pieces: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)  # headers, notes, comments, text boxes
    links: list[tuple[str, str]] = field(default_factory=list)  # address as written, anchor text
    size: int = 0  # of what add() took

    def add(self, piece: str, beside: bool = False) -> None:
        """Keep a piece of text, or of what stands beside it. Raises Enough where no more is kept: a small document can
        name one text very often."""
        self.size += len(piece)
        if self.size > 2 * TEXT_AT_MOST:
            raise Enough
        (self.beside if beside else self.pieces).append(piece)

    def link(self, address: str, anchor: str = "") -> None:
        address = address.strip()
        if address and len(address) <= ADDRESS_AT_MOST and len(self.links) <= LINKS_AT_MOST:
            self.links.append((address, anchor[:ANCHOR_AT_MOST]))

    @property
    def text(self) -> str:
        """The words, and after them those that stand beside them."""
        return "".join((*self.pieces, " ", *self.beside))


class OfficeField:
    """A field: what it says (its instruction), and where its result begins."""

    __slots__ = ("begin", "in_result", "instruction", "sink")

    def __init__(self, instruction: str = "") -> None:
        self.instruction = [instruction]
        self.sink: list[str] = []
        self.begin, self.in_result = 0, False

    def result_begins(self, sink: list[str]) -> None:
        self.sink, self.begin, self.in_result = sink, len(sink), True

    def link_into(self, gathered: Gathered) -> None:
        """A link, where the field is one."""
        if address := hyperlink_in("".join(self.instruction[:1_000])):
            gathered.link(address, anchor_from(self.sink, self.begin))


def anchor_from(pieces: list[str], begin: int) -> str:
    """The words since `begin`; of many links around one long text none copies more of it than an anchor may have."""
    return "".join(piece[:ANCHOR_AT_MOST] for piece in pieces[begin : begin + 200])[:ANCHOR_AT_MOST]


def hyperlink_in(instruction: str) -> str:
    """The address in the instruction of a field (HYPERLINK "address" \\o "tip"), or nothing."""
    name, _, rest = instruction[: 2 * ADDRESS_AT_MOST].strip().partition(" ")
    if name.upper() != "HYPERLINK":
        return ""
    taken = False  # by the switch before it
    for quoted, switch, bare in _INSTRUCTION.findall(rest):
        if switch:
            taken = switch.lower() in _WITH_ARGUMENT
        elif taken:
            taken = False
        else:
            return str(quoted or bare)
    return ""
