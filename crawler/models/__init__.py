"""The rows of the WebCrawl database, one file per subject. No metacolumns, no cross-database keys."""

from .hosts import Host, HostService
from .ledger import LedgerEntry
from .pages import PageBody, PageHead, PageVersion
from .propagations import Propagation, PropagationStep
from .queues import ActiveQueue, CrawledPage, Instance, Message, MessageState
from .runs import OPEN_STATES, Event, Excursion, Run, State

__all__ = [
    "OPEN_STATES",
    "ActiveQueue",
    "CrawledPage",
    "Event",
    "Excursion",
    "Host",
    "HostService",
    "Instance",
    "LedgerEntry",
    "Message",
    "MessageState",
    "PageBody",
    "PageHead",
    "PageVersion",
    "Propagation",
    "PropagationStep",
    "Run",
    "State",
]
