"""Every address of the API, its methods, what each takes and gives: the table from which everything else is made."""

from . import documents, runs
from .contract import PAGING, Address, Operation, text

DOCUMENT = "documents/<int:doc_id>/"
POINT = DOCUMENT + "crawl-points/<int:point_id>/"
EXCLUDE = DOCUMENT + "exclude-urls/<int:exclude_id>/"
RUN = "runs/<int:run_id>/"
_FIND = {"text": text("Part of the title", 200), "project": text("Name of the project", 100)}
_DELETED = {"deleted": documents.DELETED}
_VERSION = {"version": documents.VERSION}

ADDRESSES = (
    Address("me/", "api-me", {"GET": Operation(documents.me, "Who the key belongs to", "Me")}),
    Address("documents/", "api-documents", {
        "GET": Operation(documents.listed, "Documents you may see", "Document", many=True, query=PAGING | _FIND),
    }),
    Address(DOCUMENT, "api-document", {"GET": Operation(documents.one, "One document", "Document")}),
    Address(DOCUMENT + "crawl-points/", "api-crawl-points", {
        "GET": Operation(
            documents.points, "Crawl points of a document", "CrawlPoint", many=True, query=PAGING | _DELETED
        ),
        "POST": Operation(
            documents.add_point, "Add a crawl point", "SavedCrawlPoint", body=documents.NEW_POINT, status=201
        ),
    }),
    Address(POINT, "api-crawl-point", {
        "GET": Operation(documents.point, "One crawl point", "CrawlPoint"),
        "PATCH": Operation(
            documents.change_point, "Update a crawl point: what is named is changed, what is not stays",
            "SavedCrawlPoint", body=documents.CHANGED_POINT,
        ),
        "DELETE": Operation(documents.delete_point, "Delete a crawl point; it can be restored", "CrawlPoint",
                            query=_VERSION),
    }),
    Address(POINT + "restore/", "api-crawl-point-restore", {
        "POST": Operation(documents.restore_point, "Restore a deleted crawl point", "CrawlPoint"),
    }),
    Address(DOCUMENT + "exclude-urls/", "api-exclude-urls", {
        "GET": Operation(
            documents.excludes, "Exclude URLs of a document", "ExcludeUrl", many=True, query=PAGING | _DELETED
        ),
        "POST": Operation(
            documents.add_exclude, "Add an exclude URL", "ExcludeUrl", body=documents.NEW_EXCLUDE, status=201
        ),
    }),
    Address(EXCLUDE, "api-exclude-url", {
        "DELETE": Operation(documents.delete_exclude, "Delete an exclude URL; it can be restored", "ExcludeUrl"),
    }),
    Address(EXCLUDE + "restore/", "api-exclude-url-restore", {
        "POST": Operation(documents.restore_exclude, "Restore a deleted exclude URL", "ExcludeUrl"),
    }),
    Address(DOCUMENT + "explain/", "api-explain", {
        "POST": Operation(documents.explain, "Would these addresses be crawled? Changes nothing", "Explanation",
                          body=documents.QUESTION),
    }),
    Address("runs/", "api-runs", {
        "GET": Operation(runs.listed, "Runs, newest first", "Run", many=True, query=PAGING | {"state": runs.TAB}),
        "POST": Operation(runs.launch, "Launch a crawl of the named documents, of a project, or of all", "Run",
                          body=runs.LAUNCH, status=201),
    }),
    Address(RUN, "api-run", {"GET": Operation(runs.one, "One run with its counts", "Run")}),
    Address(RUN + "do/<slug:action>/", "api-run-control", {
        "POST": Operation(runs.act, "Control a run: pause, resume, stop (keeps) or cancel (discards)", "Run"),
    }),
    Address(RUN + "speed/", "api-run-speed", {
        "POST": Operation(runs.speed, "Set the speed of a run", "Run", body=runs.SPEED),
    }),
    Address(RUN + "apply-excludes/", "api-run-excludes", {
        "POST": Operation(
            runs.apply_excludes, "Let the exclude URLs of a document count for the running crawl", "Run",
            body=runs.DOCUMENT,
        ),
    }),
    Address(RUN + "documents/", "api-run-documents", {
        "GET": Operation(runs.documents, "The documents of a run", "Excursion", many=True, query=PAGING),
    }),
    Address(RUN + "urls/", "api-run-urls", {
        "GET": Operation(runs.urls, "The decision ledger: every address, what became of it, why", "LedgerRow",
                         many=True, query=PAGING | runs.LEDGER_QUERY),
    }),
    Address(RUN + "pages/", "api-run-pages", {
        "GET": Operation(
            runs.pages, "Stored pages of a run", "LedgerRow", many=True,
            query=PAGING | {name: one for name, one in runs.LEDGER_QUERY.items() if name != "outcome"},
        ),
    }),
    Address(RUN + "pages/<int:entry_id>/", "api-run-page", {
        "GET": Operation(runs.page, "One stored page with its text and meta tags", "Page"),
    }),
    Address(RUN + "events/", "api-run-events", {
        "GET": Operation(runs.events, "The log of a run, newest first", "Event", many=True, query=PAGING),
    }),
    Address("propagations/", "api-propagations", {
        "GET": Operation(runs.propagations, "Propagations, newest first", "Propagation", many=True, query=PAGING),
    }),
    Address("propagations/<int:generation>/", "api-propagation", {
        "GET": Operation(runs.propagation, "One propagation with its steps", "Propagation"),
    }),
)  # fmt: skip
