"""Every address of the API, its methods, what each takes and gives: the table from which everything else is made."""

from . import (
    commands,
    documents,
    figures,
    imports,
    looks,
    notes,
    orders,
    pages,
    plans,
    results,
    runs,
    sheets,
    silences,
    taking_back,
    words,
)
from .contract import PAGING, ApiAddress, Operation, Schema, text
from .paths import DOCUMENT, EXCLUDE, FINDING, OTHER, POINT, PREVIEW, RUN

_FIND = {"text": text("Part of the title", 200), "project": text("Name of the project", 100)}
_DELETED = {"deleted": documents.DELETED}
_VERSION = {"version": documents.VERSION}
# The subjects that bring their own shapes.
SCHEMAS: dict[str, Schema] = (
    figures.SCHEMAS
    | orders.SCHEMAS
    | pages.SCHEMAS
    | plans.SCHEMAS
    | looks.SCHEMAS
    | sheets.SCHEMAS
    | imports.SCHEMAS
    | silences.SCHEMAS
    | taking_back.SCHEMAS
    | notes.SCHEMAS
    | words.SCHEMAS
)

ADDRESSES = (
    ApiAddress("me/", "api-me", {"GET": Operation(documents.me, "Who the key belongs to", "Me")}),
    ApiAddress("documents/", "api-documents", {
        "GET": Operation(documents.listed, "Documents you may see", "Document", many=True, query=PAGING | _FIND),
    }),
    ApiAddress(DOCUMENT, "api-document", {"GET": Operation(documents.one, "One document", "Document")}),
    ApiAddress(DOCUMENT + "crawl-points/", "api-crawl-points", {
        "GET": Operation(
            documents.points, "Crawl points of a document", "CrawlPoint", many=True, query=PAGING | _DELETED
        ),
        "POST": Operation(
            documents.add_point, "Add a crawl point", "SavedCrawlPoint", body=documents.NEW_POINT, status=201
        ),
    }),
    ApiAddress(POINT, "api-crawl-point", {
        "GET": Operation(documents.point, "One crawl point", "CrawlPoint"),
        "PATCH": Operation(
            documents.change_point, "Update a crawl point: what is named is changed, what is not stays",
            "SavedCrawlPoint", body=documents.CHANGED_POINT,
        ),
        "DELETE": Operation(documents.delete_point, "Delete a crawl point; it can be restored", "CrawlPoint",
                            query=_VERSION),
    }),
    ApiAddress(POINT + "restore/", "api-crawl-point-restore", {
        "POST": Operation(documents.restore_point, "Restore a deleted crawl point", "CrawlPoint"),
    }),
    ApiAddress(DOCUMENT + "exclude-urls/", "api-exclude-urls", {
        "GET": Operation(
            documents.excludes, "Exclude URLs of a document", "ExcludeUrl", many=True, query=PAGING | _DELETED
        ),
        "POST": Operation(
            documents.add_exclude, "Add an exclude URL", "ExcludeUrl", body=documents.NEW_EXCLUDE, status=201
        ),
    }),
    ApiAddress(EXCLUDE, "api-exclude-url", {
        "DELETE": Operation(documents.delete_exclude, "Delete an exclude URL; it can be restored", "ExcludeUrl"),
    }),
    ApiAddress(EXCLUDE + "restore/", "api-exclude-url-restore", {
        "POST": Operation(documents.restore_exclude, "Restore a deleted exclude URL", "ExcludeUrl"),
    }),
    ApiAddress(DOCUMENT + "explain/", "api-explain", {
        "POST": Operation(documents.explain, "Would these addresses be crawled? Changes nothing", "Explanation",
                          body=documents.QUESTION),
    }),
    ApiAddress(DOCUMENT + "crawl-points/set/", "api-crawl-points-set", {
        "POST": Operation(commands.set_values, "Set a limit of several crawl points, or switch them on or off",
                          "Changed", body=commands.LIMITS),
    }),
    ApiAddress(DOCUMENT + "crawl-points/copy/", "api-crawl-points-copy", {
        "POST": Operation(commands.copy, "Copy or move crawl points to another document", "Changed",
                          body=commands.COPY),
    }),
    ApiAddress(DOCUMENT + "history/", "api-history", {
        "GET": Operation(commands.history, "Who changed what, newest first", "HistoryEntry", many=True, query=PAGING),
    }),
    ApiAddress(DOCUMENT + "request-crawl/", "api-request-crawl", {
        "POST": Operation(commands.request_crawl, "Ask the administrators for a crawl of this document", "CrawlRequest",
                          body=commands.NOTE, status=201),
    }),
    ApiAddress(DOCUMENT + "previews/", "api-previews", {
        "GET": Operation(commands.previews_of, "Previews of a document, newest first", "Preview", many=True,
                         query=PAGING),
        "POST": Operation(commands.start_preview, "Look at up to 25 pages; nothing is stored", "Preview",
                          body=commands.CHOSEN, status=201),
    }),
    ApiAddress(PREVIEW, "api-preview", {"GET": Operation(commands.preview, "One preview with its pages", "Preview")}),
    ApiAddress(PREVIEW + "stop/", "api-preview-stop", {
        "POST": Operation(commands.stop_preview, "Stop a preview", "Preview"),
    }),
    ApiAddress("runs/", "api-runs", {
        "GET": Operation(runs.listed, "Runs, newest first", "Run", many=True, query=PAGING | runs.RUNS_QUERY),
        "POST": Operation(runs.launch, "Launch a crawl of documents, a project, a view, a crawl point, or all", "Run",
                          body=runs.LAUNCH, status=201),
    }),
    ApiAddress(RUN, "api-run", {"GET": Operation(runs.one, "One run with its counts", "Run")}),
    ApiAddress(RUN + "do/<slug:action>/", "api-run-control", {
        "POST": Operation(runs.act, "Control a run: pause, resume, stop (keeps) or cancel (discards)", "Run"),
    }),
    ApiAddress(RUN + "speed/", "api-run-speed", {
        "POST": Operation(runs.speed, "Set the speed of a run", "Run", body=runs.SPEED),
    }),
    ApiAddress(RUN + "label/", "api-run-label", {
        "POST": Operation(runs.label, "Label a run, or take its label off", "Run", body=runs.LABEL),
    }),
    ApiAddress(RUN + "apply-excludes/", "api-run-excludes", {
        "POST": Operation(
            runs.apply_excludes, "Let the exclude URLs of a document count for the running crawl", "Run",
            body=runs.DOCUMENT,
        ),
    }),
    ApiAddress(RUN + "documents/", "api-run-documents", {
        "GET": Operation(runs.documents, "The documents of a run", "Excursion", many=True, query=PAGING),
    }),
    ApiAddress(RUN + "urls/", "api-run-urls", {
        "GET": Operation(runs.urls, "The decision ledger: every address, what became of it, why", "LedgerRow",
                         many=True, query=PAGING | runs.LEDGER_QUERY),
    }),
    ApiAddress(RUN + "pages/", "api-run-pages", {
        "GET": Operation(
            runs.pages, "Stored pages of a run", "LedgerRow", many=True,
            query=PAGING | {name: one for name, one in runs.LEDGER_QUERY.items() if name not in ("outcome", "taken")},
        ),
    }),
    ApiAddress(RUN + "pages/<int:entry_id>/", "api-run-page", {
        "GET": Operation(runs.page, "One stored page with its text and meta tags", "Page"),
    }),
    ApiAddress(RUN + "events/", "api-run-events", {
        "GET": Operation(runs.events, "The log of a run, newest first", "Event", many=True,
                         query=PAGING | runs.LOG_QUERY),
    }),
    ApiAddress(RUN + "ask-to-stop/", "api-run-ask-to-stop", {
        "POST": Operation(commands.ask_to_stop, "Ask the administrators to stop a run you may not stop", "Run"),
    }),
    ApiAddress(RUN + "findings/", "api-run-findings", {
        "GET": Operation(results.findings, "The findings of a run, the most important first", "Finding", many=True,
                         query=PAGING | results.FINDINGS_QUERY),
    }),
    ApiAddress(RUN + "hosts/", "api-run-hosts", {
        "GET": Operation(results.hosts, "What each site gave, and what kept the crawler from more of it", "Host",
                         many=True, query=PAGING | results.DOCUMENT_QUERY),
    }),
    ApiAddress(RUN + "errors/", "api-run-errors", {
        "GET": Operation(results.errors, "Failed addresses, those of one kind together", "ErrorGroup", many=True,
                         query=PAGING | results.DOCUMENT_QUERY),
    }),
    ApiAddress(RUN + "documents/<int:doc_id>/changes/", "api-run-changes", {
        "GET": Operation(results.changes, "The pages of a document against its crawl before", "Change", many=True,
                         query=PAGING | results.CHANGES_QUERY),
    }),
    ApiAddress(RUN + "documents/<int:doc_id>/settings/", "api-run-settings", {
        "GET": Operation(results.settings_used, "The crawl points and exclude URLs the run took over", "SettingsUsed"),
    }),
    ApiAddress(OTHER, "api-run-compare", {
        "GET": Operation(results.compare, "Two runs beside each other, document by document", "Compared", many=True,
                         query=PAGING),
    }),
    ApiAddress(OTHER + "documents/<int:doc_id>/", "api-run-compare-pages", {
        "GET": Operation(results.compared_pages, "The pages of a document by how two runs differ", "LedgerRow",
                         many=True, query=PAGING | results.COMPARE_QUERY),
    }),
    ApiAddress(FINDING, "api-finding", {"GET": Operation(results.finding, "One finding", "Finding")}),
    ApiAddress(FINDING + "decide/", "api-finding-decide", {
        "POST": Operation(results.decide, "Accept a finding, call it solved, open it again", "Finding",
                          body=results.DECISION),
    }),
    ApiAddress(FINDING + "fix/", "api-finding-fix", {
        "POST": Operation(results.fix, "Carry out an offered repair; it applies to the next crawl", "Finding",
                          body=results.REPAIR),
    }),
    *figures.ADDRESSES,
    *orders.ADDRESSES,
    *pages.ADDRESSES,
    *plans.ADDRESSES,
    *looks.ADDRESSES,
    *sheets.ADDRESSES,
    *imports.ADDRESSES,
    *silences.ADDRESSES,
    *taking_back.ADDRESSES,
    *notes.ADDRESSES,
    *words.ADDRESSES,
    ApiAddress("propagations/", "api-propagations", {
        "GET": Operation(runs.propagations, "Propagations, newest first", "Propagation", many=True, query=PAGING),
    }),
    ApiAddress("propagations/<int:generation>/", "api-propagation", {
        "GET": Operation(runs.propagation, "One propagation with its steps", "Propagation"),
    }),
)  # fmt: skip
