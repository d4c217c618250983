"""Owns: which address of the demo site answers what. Does not: speak HTTP. Called by: server."""

import csv
import io
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from . import markup
from .pdf_writer import pdf

HERE = Path(__file__).parent
HOME = ("/", "Home")
ELSEWHERE = "https://www.example.org/partners/northfield"


@dataclass(frozen=True)
class DemoResponse:
    body: bytes = b""
    type: str = "text/html; charset=utf-8"
    status: int = 200
    location: str = ""
    members_only: bool = False
    delay: float = 0.0


@cache
def answers() -> dict[str, DemoResponse]:
    """Every address and its answer; whatever is not here is a 404."""
    found: dict[str, DemoResponse] = {}
    found |= _pages()
    found |= _measures()
    found |= _guidelines()
    found |= _documents()
    found |= _faults(found)
    return found


def read(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / f"{name}.toml").read_text())


def _page(page: dict[str, Any], body: str, crumbs: list[tuple[str, str]]) -> DemoResponse:
    return DemoResponse(markup.frame(page, body, [HOME, *crumbs]), delay=page.get("slow", 0.0))


def _pages() -> dict[str, DemoResponse]:
    pages = read("pages")["page"]
    titles = {page["path"]: page["title"] for page in pages}
    result = {}
    for page in pages:
        path = page["path"]
        folder = path[: path.rstrip("/").rfind("/") + 1]
        crumbs = [(folder, titles[folder])] if folder in titles and folder not in ("/", path) else []
        answer = _page(page, markup.html(page["text"]), crumbs)
        members = path.startswith("/members/")
        result[path] = DemoResponse(answer.body, delay=answer.delay, members_only=members)
    return result


def _measures() -> dict[str, DemoResponse]:
    data = read("measures")
    titles = {f"{one['folder']}/{one['slug']}": one["title"] for one in data["measure"]}
    top = ("/measures/", "Measures")
    listing = "\n".join(f"- [{one['title']}](/measures/{one['slug']}/): {one['summary']}" for one in data["folder"])
    summary = "Nineteen measures in five groups, each with definition, rationale and the rates of three years."
    result = {
        "/measures/": _page({"title": "Measures of health care quality", "summary": summary}, markup.html(listing), [])
    }
    for folder in data["folder"]:
        address = f"/measures/{folder['slug']}/"
        mine = [one for one in data["measure"] if one["folder"] == folder["slug"]]
        listing = "\n".join(f"- [{one['title']}]({one['slug']}.html): {one['summary']}" for one in mine)
        result[address] = _page(folder, markup.html(listing), [top])
        for one in mine:
            page = one | {"keywords": f"quality measure, {folder['title']}", "date": "2026-01-15"}
            body = markup.html(_measure_text(one, titles))
            result[f"{address}{one['slug']}.html"] = _page(page, body, [top, (address, folder["title"])])
    return result


def _measure_text(one: dict[str, Any], titles: dict[str, str]) -> str:
    rates = "\n".join(f"| {year} | {rate} |" for year, rate in one["rates"])
    related = "\n".join(f"- [{titles[name]}](/measures/{name}.html)" for name in one["related"])
    return f"""## Why it matters
{one["rationale"]}

## Numerator
{one["numerator"]}

## Denominator
{one["denominator"]}

## Exclusions
{one["exclusions"]}

## Source of the data
{one["source"]}, collected by every hospital that takes part and checked by the institute.

## Rates
| Year | Average of all participants |
{rates}

## See also
- [The guideline behind it](/guidelines/{one["guideline"]}.html)
{related}
"""


def _guidelines() -> dict[str, DemoResponse]:
    guidelines = read("guidelines")["guideline"]
    measures = read("measures")["measure"]
    listing = "\n".join(f"- [{one['title']}]({one['slug']}.html): {one['summary']}" for one in guidelines)
    summary = "Recommendations of our panels, with the evidence they rest on."
    page = {"title": "Clinical practice guidelines", "summary": summary}
    result = {"/guidelines/": _page(page, markup.html(listing), [])}
    for one in guidelines:
        steps = "\n".join(f"- {step}" for step in one["recommendations"])
        used = [m for m in measures if m["guideline"] == one["slug"]]
        links = "\n".join(f"- [{m['title']}](/measures/{m['folder']}/{m['slug']}.html)" for m in used)
        text = f"## Recommendations\n{steps}\n\n## Evidence\n{one['evidence']} Last reviewed on {one['reviewed']}."
        text += f"\n\n## Measured by\n{links}" if links else ""
        body = markup.html(text)
        crumbs = [("/guidelines/", "Guidelines")]
        result[f"/guidelines/{one['slug']}.html"] = _page(one | {"date": one["reviewed"]}, body, crumbs)
    return result


def _documents() -> dict[str, DemoResponse]:
    measures = read("measures")["measure"]
    report = [f"{one['title']}: {one['rates'][-1][1]} in 2025. {one['rationale']}" for one in measures]
    checklist = [
        "Sign-in, before anaesthesia: identity, site and consent confirmed; allergies known; difficult airway?",
        "Time-out, before the incision: everyone introduces themselves; antibiotic given within the last hour?",
        "Sign-out, before the patient leaves: instruments counted; specimens labelled; what worries us in recovery?",
    ]
    boards = [
        "A board that sees quality figures once a year sees history. Ask for run charts every month.",
        "Ask which three measures worry the director of nursing, and why.",
        "Ask to hear from one patient at the beginning of every meeting.",
    ]
    table = io.StringIO()
    lines = csv.writer(table)
    lines.writerow(["folder", "measure", "year", "rate"])
    lines.writerows([one["folder"], one["title"], year, rate] for one in measures for year, rate in one["rates"])
    return {
        "/documents/annual-report-2025.pdf": DemoResponse(pdf("Annual report 2025", report), "application/pdf"),
        "/documents/checklist.pdf": DemoResponse(pdf("Surgical safety checklist", checklist), "application/pdf"),
        "/documents/guide-for-boards.pdf": DemoResponse(pdf("Guide for hospital boards", boards), "application/pdf"),
        "/documents/measures.csv": DemoResponse(table.getvalue().encode(), "text/csv; charset=utf-8"),
    }


def _faults(pages: dict[str, DemoResponse]) -> dict[str, DemoResponse]:
    """What real sites do: moved pages, circles, gone pages, a broken script, the same text twice."""
    return {
        "/favicon.ico": DemoResponse(status=204),
        "/robots.txt": DemoResponse(b"User-agent: *\nDisallow: /private/\n", "text/plain"),
        "/quality-measures/": DemoResponse(status=301, location="/measures/"),
        "/go/partner": DemoResponse(status=302, location=ELSEWHERE),
        "/moved/1": DemoResponse(status=302, location="/moved/2"),
        "/moved/2": DemoResponse(status=301, location="/moved/3"),
        "/moved/3": DemoResponse(status=301, location="/tools/checklist.html"),
        "/loop/a": DemoResponse(status=302, location="/loop/b"),
        "/loop/b": DemoResponse(status=302, location="/loop/a"),
        "/tools/calculator.html": DemoResponse(b"<h1>Withdrawn</h1>", status=410),
        "/archive/statistics": DemoResponse(b"<h1>The statistics script failed</h1>", status=500),
        "/archive/about-reprint.html": DemoResponse(pages["/about.html"].body),
    }
