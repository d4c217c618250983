"""Owns: the little markup of the demo texts, and the frame around every page. Called by: site."""

import re
from html import escape
from typing import Any

LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
MENU = [
    ("/measures/", "Measures"),
    ("/guidelines/", "Guidelines"),
    ("/tools/", "Tools"),
    ("/documents/", "Documents"),
    ("/archive/", "News"),
    ("/about.html", "About"),
]


def html(text: str) -> str:
    """Blank line = new block; "## " heading, "- " list, "| a | b |" table, [words](address) link."""
    return "\n".join(_block(block) for block in re.split(r"\n\s*\n", text.strip()))


def _block(block: str) -> str:
    lines = block.strip().splitlines()
    if lines[0].startswith("## "):
        rest = "\n".join(lines[1:])
        return f"<h2>{inline(lines[0][3:])}</h2>" + (f"\n{_block(rest)}" if rest else "")
    if lines[0].startswith("- "):
        items = "".join(f"<li>{inline(line[2:])}</li>\n" for line in lines)
        return f"<ul>\n{items}</ul>"
    if lines[0].startswith("|"):
        return table([[cell.strip() for cell in line.strip("|").split("|")] for line in lines])
    return f"<p>{inline(' '.join(lines))}</p>"


def inline(text: str) -> str:
    return LINK.sub(r'<a href="\2">\1</a>', escape(text, quote=False))


def table(rows: list[list[str]]) -> str:
    head = "".join(f"<th>{inline(cell)}</th>" for cell in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{inline(cell)}</td>" for cell in row) + "</tr>\n" for row in rows[1:])
    return f"<table>\n<tr>{head}</tr>\n{body}</table>"


def frame(page: dict[str, Any], body: str, crumbs: list[tuple[str, str]]) -> bytes:
    """A whole page: metas, menu, breadcrumbs, the body."""
    metas = {"description": page["summary"], "author": "Northfield Institute", "robots": page.get("robots", "")}
    metas |= {"dc.date": str(page.get("date", "")), "keywords": page.get("keywords", "")}
    lines = [f'<meta name="{name}" content="{escape(value)}">' for name, value in metas.items() if value]
    menu = " | ".join(f'<a href="{address}">{words}</a>' for address, words in MENU)
    trail = " › ".join(f'<a href="{address}">{escape(words)}</a>' for address, words in crumbs)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{escape(page["title"])}</title>
{chr(10).join(lines)}
</head>
<body>
<nav>{menu}</nav>
<p>{trail}</p>
<main>
<h1>{escape(page["title"])}</h1>
<p><em>{escape(page["summary"])}</em></p>
{body}
</main>
<footer><p><a href="/">Northfield Institute for Health Care Quality</a>, a demonstration site.
<a href="/glossary.html">Glossary</a>, <a href="/contact.html">contact</a>.</p></footer>
</body>
</html>
""".encode()
