"""The reviewed table: who gets what at which address (threat T13). One line per route; test_routes walks it.

A NEW ROUTE NEEDS ONE LINE in ROWS: "url-name": (pattern for GET, pattern for POST).
  * Choose a pattern below; NO means the method does not exist there (405).
  * A third entry, a dictionary, is what the POST sends (otherwise nothing); a query may follow a name in QUERIES.
  * An argument of the address that is not in test_routes.arguments() needs one line there: a real row's key.
A pattern is one letter for each of PEOPLE, in their order:
  Y gets an answer   R refused, told who can grant it (403)   N does not exist for them (404)   D sent to the door
"""

from typing import Any

# Everything is asked about the editor's document, in project 1; the stranger and the other manager are of project 2.
PEOPLE = (
    "visitor",  # not signed in
    "nobody",  # an account without a role
    "stranger",  # content developer of project 2
    "other_manager",  # project manager of project 2
    "colleague",  # content developer of project 1, not assigned to the document
    "editor",  # content developer, assigned to the document
    "reader",  # indexer of project 1
    "manager",  # project manager of project 1
    "administrator",
    "superuser",
)

OPEN = "YYYYYYYYYY"
SELF = "DYYYYYYYYY"  # one's own pages
STAFF = "DNYYYYYYYY"  # everybody with a role; lists show only what is theirs
VIEW = "DNNNYYYYYY"
EDIT = "DNNNRYRYYY"
TEST = "DNNNRYYYYY"
REQUEST = "DNNNRYRYRR"
RUN = "DNNNNYYYYY"
CONTROL = "DNNNNRRRYY"
MANAGERS = "DNRYRRRYYY"
EDITORS = "DNYYYYRYYY"  # who may edit any document at all
MEMBER = "DNRNRRRYYY"  # a person of project 1, for who manages people
CURATE = "DNRNRRRYYY"  # a rule of project 1
ADMIN = "DNRRRRRRYY"
ASSIGN = "DNNNRRRYYY"
LAUNCH_IT = "DNNNRRRRYY"  # launch this document
LEAVE = "DDDDDDDDDD"  # signed out, and back at the door
LEAVE_ADMIN = "DNRRRRRRDD"
NEVER = "DNRRRRRRRR"  # refused to everybody
ROOT = "DNNNNNNNNY"  # superusers; nobody else learns that it exists
EDIT_OF_RUN = "DNNNNYRYYY"  # what a run found: nobody learns of it who does not see the run
HIDDEN_EDIT = "DNNNRNRNNN"  # may be edited, but this one is not deleted
HIDDEN = "DNNNNNNNNN"
ADMIN_HIDDEN = "DNRRRRRRNN"  # of the table's key; an administrator learns that it is not there
NO = "DXXXXXXXXX"  # no such method
SHUT = "XXXXXXXXXX"  # no such method at an open address

# Methods other than GET and POST are in REST below; everywhere else they must not exist or change nothing.
ROWS: dict[str, tuple[Any, ...]] = {
    # ---- clearinghouse.accounts ----
    "sign-in": (OPEN, OPEN),
    # ---- machines: clearinghouse.operations.health, crawler.upkeep.metrics_views (who asks from elsewhere:
    # tests/health) ----
    "healthz": (OPEN, SHUT),
    "readyz": (OPEN, SHUT),
    "metrics": (OPEN, SHUT),
    "sign-out": (NO, LEAVE),
    "me": (SELF, SELF),
    "preferences": (SELF, SELF),
    "password": (SELF, SELF),
    "single-keys": (NO, SELF),
    "api-keys": (SELF, NO),
    "api-key-new": (NO, SELF),
    "api-key-revoke": (NO, HIDDEN),  # the key of the table is nobody's of these
    "own-sessions": (SELF, NO),
    "own-sessions-end-others": (NO, SELF),
    "own-session-end": (NO, HIDDEN),
    "people-keys": (ADMIN, NO),
    "people-key-revoke": (NO, ADMIN_HIDDEN),
    "settings": (MANAGERS, NO),
    "networks": (ADMIN, NO),
    "launching": (ADMIN, ADMIN),
    "crawl-defaults": (ADMIN, ADMIN),
    "notice-defaults": (ADMIN, ADMIN),
    "projects": (ADMIN, ADMIN),
    "project-edit": (ADMIN, ADMIN),
    "project-delete": (NO, ADMIN),
    "people": (MANAGERS, NO),
    "person-new": (MANAGERS, MANAGERS),
    "person-edit": (MEMBER, MEMBER),
    "person-password": (NO, MEMBER),
    "person-active": (NO, MEMBER),
    # ---- clearinghouse.library ----
    "document-new": (ADMIN, ADMIN),
    "documents-import": (ADMIN, ADMIN),
    "document-edit": (ASSIGN, ASSIGN),
    "document-delete": (NO, ADMIN),
    "document-restore": (NO, ADMIN),
    # ---- crawlpoints ----
    "documents": (STAFF, NO),
    "documents-choose": (STAFF, NO),
    "documents-export": (STAFF, NO),
    "points": (STAFF, NO),
    "points-export": (STAFF, NO),
    "points-bulk": (NO, EDITORS, {"do": "activate"}),
    "points-undo": (NO, EDITORS),
    "document": (VIEW, NO),
    "crawl-points": (VIEW, NO),
    "crawl-points-export": (VIEW, NO),
    "crawl-points-choose": (NO, EDIT),
    "crawl-points-delete": (NO, EDIT),
    "crawl-points-launch": (NO, LAUNCH_IT),
    "crawl-points-restore": (NO, EDIT),
    "crawl-points-bulk": (NO, EDIT, {"do": "activate"}),
    "crawl-points-test": (TEST, TEST),
    "crawl-point-new": (EDIT, EDIT),
    "crawl-point-edit": (EDIT, EDIT),
    "crawl-point-fix": (NO, EDIT),
    "exclude-urls": (VIEW, EDIT),
    "exclude-urls-delete": (NO, EDIT),
    "exclude-urls-restore": (NO, EDIT),
    "document-history": (VIEW, NO),
    "document-runs": (TEST, NO),
    "document-pages": (TEST, NO),
    "document-pages-export": (TEST, NO),
    "document-notes": (VIEW, EDIT),
    "document-notes-delete": (NO, EDIT),
    "document-notes-restore": (NO, EDIT),
    "crawl-points-import": (EDIT, EDIT),
    "crawl-points-import-job": (EDIT, NO),
    "crawl-points-import-live": (EDIT, NO),
    "crawl-points-import-order": (NO, EDIT),
    "crawl-points-running": (VIEW, NO),
    "crawl-points-undo": (NO, EDIT),
    "crawl-points-test-export": (TEST, TEST),
    "crawl-point-look": (EDIT, NO),
    "crawl-point-use": (NO, HIDDEN_EDIT),
    "exclude-urls-export": (VIEW, NO),
    "exclude-urls-import": (EDIT, EDIT),
    "exclude-urls-apply": (NO, EDIT),
    "view-save": (NO, STAFF),
    "me-views": (STAFF, STAFF),
    "view-delete": (NO, STAFF),
    # ---- crawler ----
    "crawls-pause": (NO, ADMIN),
    "schedules": (STAFF, NO),
    "quiet-hours": (NO, ADMIN),
    "schedule-change": (NO, ADMIN, {"action": "off"}),
    "schedule-edit": (ADMIN, ADMIN),
    "previews": (TEST, NO),
    "preview-start": (NO, TEST),
    "preview": (TEST, NO),
    "preview-live": (TEST, NO),
    "preview-stop": (NO, TEST),
    "preview-again": (NO, TEST),
    "run-ask-to-stop": (NO, RUN),
    "run-compare-choose": (RUN, NO),
    "run-compare": (RUN, NO),
    "run-export": (RUN, NO),
    "run-page-copy": (RUN, NO),
    "run-findings": (RUN, NO),
    "run-exclude-folder": (NO, EDIT_OF_RUN, {"folder": "https://quality.example.gov/old/", "note": "Left out"}),
    "findings-derive": (NO, RUN),
    "finding-decide": (NO, EDIT_OF_RUN, {"state": "accepted"}),
    "finding-fix": (NO, EDIT_OF_RUN),
    "finding-undo": (NO, EDIT_OF_RUN),
    "request-crawl": (REQUEST, REQUEST),
    "request-answer": (NO, LAUNCH_IT, {"do": "decline"}),
    "task-claim": (NO, HIDDEN),
    "notices-read": (NO, SELF),
    "notices-mute": (NO, SELF, {"event": "run_finished"}),
    "my-notices": (STAFF, STAFF),
    "webhooks": (ADMIN, ADMIN, {"project": "1", "url": ""}),
    "reports": (STAFF, NO),
    "changes-feed": (STAFF, NO),
    "error-mark": (NO, EDIT_OF_RUN, {"state": "known"}),
    "report": (STAFF, NO),
    "report-csv": (STAFF, NO),
    "report-view-save": (NO, STAFF),
    "report-view-delete": (NO, STAFF),
    "home": (SELF, NO),
    "crawls": (STAFF, NO),
    "launch": (ADMIN, ADMIN),
    "run": (RUN, NO),
    "run-live": (RUN, NO),
    "run-cancel": (CONTROL, CONTROL),
    "run-speed": (NO, CONTROL, {"speed": "fast"}),
    "run-label": (NO, CONTROL, {"label": "x"}),
    "run-leave-out": (CONTROL, CONTROL),
    "run-control": (NO, CONTROL),
    "run-document-control": (NO, CONTROL),
    "run-page": (RUN, NO),
    "run-tab": (RUN, NO),
    "propagation": (MANAGERS, NO),
    "propagation-new": (ADMIN, NO),
    "propagation-start": (NO, ADMIN),
    "propagation-rollback": (ADMIN, ADMIN),
    "propagation-rollforward": (ADMIN, ADMIN),
    "propagation-board": (MANAGERS, NO),
    "propagation-live": (MANAGERS, NO),
    "propagation-retry": (NO, ADMIN),
    "propagation-pause": (NO, ADMIN),
    "propagation-resume": (NO, ADMIN),
    "index-word": (STAFF, NO),
    "index-page": (VIEW, NO),
    "help": (OPEN, SHUT),
    "help-topic": (OPEN, SHUT),
    "workers": (ADMIN, NO),
    "status": (ADMIN, NO),
    "error-log": (ADMIN, NO),
    # ---- crawler.api ----
    "api-docs": (SELF, NO),
    "api-openapi": (SELF, NO),
    "api-me": (SELF, NO),
    "api-documents": (STAFF, NO),
    "api-document": (VIEW, NO),
    "api-crawl-points": (VIEW, EDIT, {"url": "https://x.example/a/", "root": "https://x.example/a/"}),
    "api-crawl-point": (VIEW, NO),
    "api-crawl-point-restore": (NO, HIDDEN_EDIT),
    "api-exclude-urls": (VIEW, EDIT, {"pattern": "https://x.example/*"}),
    "api-exclude-url": (NO, NO),
    "api-exclude-url-restore": (NO, HIDDEN_EDIT),
    "api-explain": (NO, TEST, {"urls": ["https://x.example/"]}),
    "api-runs": (STAFF, ADMIN),
    "api-run": (RUN, NO),
    "api-run-control": (NO, CONTROL),
    "api-run-speed": (NO, CONTROL, {"speed": "fast"}),
    "api-run-label": (NO, CONTROL, {"label": "x"}),
    "api-run-leave-out": (NO, CONTROL, {"reason": "bad"}),
    "api-run-take-in": (NO, CONTROL),
    "api-run-excludes": (NO, CONTROL, {"document": 1}),
    "api-run-documents": (RUN, NO),
    "api-run-urls": (RUN, NO),
    "api-run-pages": (RUN, NO),
    "api-run-page": (RUN, NO),
    "api-run-events": (RUN, NO),
    "api-crawl-points-set": (NO, EDIT, {"crawl_points": [], "active": True}),
    "api-crawl-points-copy": (NO, HIDDEN_EDIT, {"crawl_points": [], "document": 999}),
    "api-history": (VIEW, NO),
    "api-request-crawl": (NO, REQUEST, {"note": "please"}),
    "api-previews": (TEST, TEST, {"crawl_points": []}),
    "api-preview": (TEST, NO),
    "api-preview-stop": (NO, TEST),
    "api-run-ask-to-stop": (NO, RUN),
    "api-run-findings": (RUN, NO),
    "api-run-hosts": (RUN, NO),
    "api-run-errors": (RUN, NO),
    "api-run-changes": (RUN, NO),
    "api-run-settings": (RUN, NO),
    "api-run-compare": (RUN, NO),
    "api-run-compare-pages": (RUN, NO),
    "api-finding": (RUN, NO),
    "api-finding-decide": (NO, EDIT_OF_RUN, {"state": "accepted"}),
    "api-finding-fix": (NO, EDIT_OF_RUN, {"fix": 0}),
    "api-run-counts": (RUN, NO),
    "api-run-folders": (RUN, NO),
    "api-run-settings-differences": (RUN, NO),
    "api-run-document-control": (NO, CONTROL),
    "api-error-mark": (NO, EDIT_OF_RUN, {"state": "known"}),
    "api-run-url-why": (RUN, NO),
    "api-run-url-links-out": (RUN, NO),
    "api-run-url-links-in": (RUN, NO),
    "api-run-url-versions": (RUN, NO),
    "api-run-url-difference": (RUN, NO),
    "api-run-url-source": (RUN, NO),
    "api-schedules": (STAFF, ADMIN, {"every": "day", "at": "02:00"}),
    "api-schedule": (RUN, NO),
    "api-fetch": (NO, TEST, {"url": "no address"}),
    "api-sign-in-detect": (NO, EDIT, {"url": "no address"}),
    "api-sign-in-test": (NO, EDIT, {"draft": {"url": "no address", "root": "no address"}}),
    "api-crawl-points-import": (NO, EDIT, {"csv": "url"}),
    "api-import": (EDIT, NO),
    "api-import-order": (NO, EDIT),
    "api-exclude-urls-import": (NO, EDIT, {"csv": "exclude_url"}),
    "api-undo": (NO, EDIT, {"undo": "nothing"}),
    "api-quiet-hours": (STAFF, NO),
    "api-pause-all": (NO, ADMIN, {"paused": False}),
    "api-document-pages": (TEST, NO),
    "api-document-runs": (TEST, NO),
    "api-notes": (VIEW, EDIT, {"text": "a note"}),
    "api-note": (NO, NO),
    "api-note-restore": (NO, HIDDEN_EDIT),
    "api-index-word": (STAFF, NO),
    "api-index-page": (VIEW, NO),
    "api-nothing": (HIDDEN, HIDDEN),
    "api-propagations": (MANAGERS, NO),
    "api-propagation": (MANAGERS, NO),
    # ---- clearinghouse.search ----
    "search": (OPEN, SHUT),
    "search-result": (OPEN, SHUT),
    "search-cached": (OPEN, SHUT),
    "search-opensearch": (OPEN, SHUT),
    "search-advanced": (OPEN, SHUT),
    "search-feed": (OPEN, SHUT),
    "search-suggest": (OPEN, SHUT),
    "search-opened": (OPEN, SHUT),
    "search-ranking": (STAFF, NO),
    "search-missing": (STAFF, NO),
    "curation": (MANAGERS, MANAGERS),
    "curation-rule": (CURATE, CURATE),
    "curation-delete": (NO, CURATE),
    "curation-restore": (NO, CURATE),
    # ---- Django's admin: what differs from ROOMS ----
    "admin:logout": (NO, LEAVE_ADMIN),
    "admin:password_change_done": (ADMIN, NO),
    "admin:jsi18n": (ADMIN, NO),
    "admin:autocomplete": (NEVER, NO),
    "admin:access_person_add": (NEVER, NEVER),
    "admin:audit_entry_add": (NEVER, NEVER),
}  # fmt: skip

# Whole rooms of libraries, by the beginning of the name: (pattern for GET, pattern for POST).
ROOMS: dict[str, tuple[str, str]] = {
    "admin:": (ADMIN, ADMIN),
    "django_rq:": (ROOT, ROOT),  # with Redis and with arguments: test_queue_pages
}

# The query of the GET, where a page needs one.
QUERIES: dict[str, str] = {"run-compare-choose": "?with=1", "index-word": "?w=words", "api-index-word": "?word=words"}

# Methods beside GET and POST that an address understands.
REST: dict[str, tuple[str, ...]] = {
    "api-crawl-point": ("PATCH", "DELETE"),
    "api-exclude-url": ("DELETE",),
    "api-schedule": ("PATCH", "DELETE"),
    "api-note": ("DELETE",),
    "api-quiet-hours": ("PUT",),
}
