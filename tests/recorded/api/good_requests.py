"""The reviewed table: one good request for each operation that changes something or needs values to give an answer.

"METHOD address": what is sent; where a dictionary is not enough, a Good. An operation that is not named is asked by the
administrator, without values. Names in {} are the rows of tests.recorded.world; {site} is a site on this machine.
"""

from dataclasses import dataclass, field
from typing import Any

_ROOT = "https://quality.example.gov/measures/"
_NEW = {"url": f"{_ROOT}new/", "root": _ROOT, "depth": 3, "note": "As recorded"}
_SHEET = f"url,root_string,depth_limit\n{_ROOT}a.html,{_ROOT},2\nno address,,2\n"
_FORM = {"url": "{site}/", "root": "{site}/", "authentication": "form", "login": "ann", "sign_in_url": "{site}/sign-in"}
_POINT = "/documents/{doc_id}/crawl-points/{point_id}/"
_ONE_OF_RUN = "/runs/{run_id}/documents/{doc_id}/"


@dataclass(frozen=True)
class Good:
    body: dict[str, Any] | None = None
    query: str = ""
    person: str = "administrator"
    # Requests before it, each (method, address, body); what one answers as `undo` can be named by the next.
    first: tuple[tuple[str, str, dict[str, Any] | None], ...] = ()
    given: dict[str, str] = field(default_factory=dict)  # arguments other than those of the world


GOOD: dict[str, Good] = {
    "POST /documents/{doc_id}/crawl-points/": Good(_NEW),
    f"PATCH {_POINT}": Good({"version": 1, "depth": 5, "note": "Changed"}),
    f"POST {_POINT}restore/": Good(first=(("DELETE", _POINT, None),)),
    "POST /documents/{doc_id}/exclude-urls/": Good({"pattern": f"{_ROOT}old/*"}),
    "POST /documents/{doc_id}/exclude-urls/{exclude_id}/restore/": Good(
        first=(("DELETE", "/documents/{doc_id}/exclude-urls/{exclude_id}/", None),)
    ),
    "POST /documents/{doc_id}/explain/": Good(
        {"urls": [f"{_ROOT}a.html", f"{_ROOT}print/1.html", "https://cdn.example.net/x.pdf", "no address"]}
    ),
    "POST /documents/{doc_id}/crawl-points/set/": Good({"crawl_points": ["{point_id}"], "depth": 4, "active": False}),
    "POST /documents/{doc_id}/crawl-points/copy/": Good({"crawl_points": ["{point_id}"], "document": "{other_doc_id}"}),
    "POST /documents/{doc_id}/request-crawl/": Good(
        {"note": "please"},
        person="stranger",
        given={"doc_id": "other_doc_id"},
        first=(("POST", "/documents/{doc_id}/crawl-points/", _NEW),),
    ),
    "POST /documents/{doc_id}/previews/": Good({"crawl_points": ["{point_id}"]}),
    "POST /runs/": Good(
        {"documents": ["{other_doc_id}"], "speed": "fast", "note": "As recorded", "label": "monthly"},
        first=(("POST", "/documents/{other_doc_id}/crawl-points/", _NEW),),
    ),
    "POST /runs/{run_id}/speed/": Good({"speed": "fast"}),
    "POST /runs/{run_id}/label/": Good({"label": "monthly"}),
    "POST /runs/{run_id}/apply-excludes/": Good({"document": "{doc_id}"}),
    "POST /runs/{run_id}/ask-to-stop/": Good(person="editor"),
    "POST /findings/{finding_id}/decide/": Good({"state": "accepted", "note": "As it is"}),
    "POST /findings/{finding_id}/fix/": Good({"fix": 0}),
    f"POST {_ONE_OF_RUN}leave-out/": Good({"reason": "The site was down"}, given={"run_id": "other_id"}),
    f"POST {_ONE_OF_RUN}take-in/": Good(
        given={"run_id": "other_id"},
        first=(("POST", f"{_ONE_OF_RUN}leave-out/", {"reason": "The site was down"}),),
    ),
    "POST /errors/{key}/mark/": Good({"state": "known"}),
    "POST /schedules/": Good({"all": True, "every": "week", "at": "02:00", "weekdays": [0, 3], "note": "As recorded"}),
    "PATCH /schedules/{schedule_id}/": Good({"active": False}),
    "POST /documents/{doc_id}/fetch/": Good(
        {"url": "{site}/open/", "draft": {"url": "{site}/open/", "root": "{site}/open/"}}
    ),
    "POST /documents/{doc_id}/sign-in/detect/": Good({"url": "{site}/sign-in"}),
    "POST /documents/{doc_id}/sign-in/test/": Good({"draft": _FORM, "password": "none of theirs"}),
    "POST /documents/{doc_id}/crawl-points/import/": Good({"csv": _SHEET, "save": False}),
    "POST /documents/{doc_id}/exclude-urls/import/": Good({"csv": f"exclude_url\n{_ROOT}x/*\n", "save": True}),
    "PUT /quiet-hours/": Good({"days": [{"weekday": 0, "hours": [0, 8]}, {"weekday": 6, "hours": [23]}]}),
    "POST /quiet-hours/pause/": Good({"paused": True, "note": "Storm"}),
    "POST /documents/{doc_id}/undo/": Good(
        {"undo": "{undo}"},
        first=(("POST", "/documents/{doc_id}/crawl-points/set/", {"crawl_points": ["{point_id}"], "depth": 4}),),
    ),
    "POST /documents/{doc_id}/notes/": Good({"text": "Ask the owner of the site"}),
    "POST /documents/{doc_id}/notes/{note_id}/restore/": Good(
        first=(("DELETE", "/documents/{doc_id}/notes/{note_id}/", None),)
    ),
    "GET /index/word/": Good(query="word=words"),
}
