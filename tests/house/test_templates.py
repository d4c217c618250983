"""Templates: whole pages extend the frame; nothing inline, as our Content-Security-Policy would refuse it."""

import re

from tests.house.tree import BASE, modules

TEMPLATES = BASE / "templates"
# Whole pages that stand alone: the frame itself, and what Django shows when nothing else works.
ALONE = {"base.html", "500.html", "507.html"}


def templates() -> dict[str, str]:
    return {str(path.relative_to(TEMPLATES)): path.read_text() for path in sorted(TEMPLATES.rglob("*.html"))}


def test_every_whole_page_extends_the_frame():
    loose = [
        name
        for name, text in templates().items()
        if name not in ALONE and re.search(r"<html|<body|<!doctype", text, re.I) and "{% extends" not in text
    ]
    assert loose == []


def test_every_template_is_used():
    """By a view, by another template, or because Django looks for its name."""
    sources = "\n".join([*templates().values(), *(module.text for module in modules().values())])
    by_name = re.compile(r"^(?:4\d\d|5\d\d|base)\.html$|^(?:admin|registration|django|django_tables2)/")
    computed = tuple(re.findall(r"f[\"']([\w/]+/)\{", sources))  # f"help/{topic}.html"
    unused = [
        name
        for name in templates()
        if not by_name.match(name) and not name.startswith(computed) and not re.search(f"[\"']{name}[\"']", sources)
    ]
    assert unused == []


def test_nothing_is_inline():
    styles, handlers = r"\sstyle\s*=|<style\b", r"\son[a-z]+\s*=\s*[\"']|javascript:"
    scripts = r"<script(?![^>]*\bsrc=)(?![^>]*json)"
    pattern = re.compile(f"{styles}|{handlers}|{scripts}", re.I)
    inline = []
    for name, text in templates().items():
        for number, line in enumerate(text.splitlines(), start=1):
            if pattern.search(line):
                inline.append(f"{name}:{number}: {line.strip()[:80]}")
    assert inline == []


def test_every_form_that_posts_carries_its_token():
    bare = []
    for name, text in templates().items():
        for form in re.findall(r"<form\b.*?</form>", text, re.S | re.I):
            posts = re.search(r"method\s*=\s*[\"']post", form, re.I)
            if posts and "csrf_token" not in form:
                bare.append(name)
    assert bare == []
