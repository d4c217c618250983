"""The rows of the WebCrawl database, one file per subject. No metacolumns, no cross-database keys."""

from .audit_outbox import AuditOutbox
from .faults import Fault
from .figures import ErrorGroup, ErrorMark, ExcludeHit, FolderFigure, HostFigure
from .findings import Advice, Diagnosis, Finding
from .inbox import Delivery, Mark, Notice, Webhook, WebhookCall, Wish
from .ledger import LedgerEntry
from .pages import PageBody, PageHead, PageVersion
from .previews import Preview
from .propagations import Forecast, Propagation, PropagationStep
from .queues import ActiveQueue, CrawledPage, Instance, Message, MessageState
from .requests import CrawlRequest, TaskClaim
from .runs import BY_PEOPLE, ENDED_WORDS, OPEN_STATES, STATE_ORDER, Event, Excursion, Run, State
from .schedules import Every, Hold, QuietWeek, Schedule
from .sites import Host, HostService

__all__ = [
    "BY_PEOPLE",
    "ENDED_WORDS",
    "OPEN_STATES",
    "STATE_ORDER",
    "ActiveQueue",
    "Advice",
    "AuditOutbox",
    "CrawlRequest",
    "CrawledPage",
    "Delivery",
    "Diagnosis",
    "ErrorGroup",
    "ErrorMark",
    "Event",
    "Every",
    "ExcludeHit",
    "Excursion",
    "Fault",
    "Finding",
    "FolderFigure",
    "Forecast",
    "Hold",
    "Host",
    "HostFigure",
    "HostService",
    "Instance",
    "LedgerEntry",
    "Mark",
    "Message",
    "MessageState",
    "Notice",
    "PageBody",
    "PageHead",
    "PageVersion",
    "Preview",
    "Propagation",
    "PropagationStep",
    "QuietWeek",
    "Run",
    "Schedule",
    "State",
    "TaskClaim",
    "Webhook",
    "WebhookCall",
    "Wish",
]
