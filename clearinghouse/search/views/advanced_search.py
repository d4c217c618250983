"""Owns: the form for people who do not know the query language: it writes it for them."""

from datetime import date
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from clearinghouse.search.words import WORD

from .search_params import TYPES

_LONGEST = 300
# Name, label, hint.
WORDS = (
    ("all", "All of these words", "Pages must contain each of them, in any order."),
    ("phrase", "Exactly this phrase", "The words beside each other, in this order."),
    ("any", "Any of these words", "One of them is enough."),
    ("none", "None of these words", "Pages that contain one of them are left out."),
    ("title", "Words in the title", ""),
)
PLACES = (
    ("site", "Site", "Like example.gov; sites below it are included."),
    ("document", "Document", "A word of its title, or its number."),
    ("project", "Project", "Its name, or a part of it."),
)
DATES = (("after", "Crawled on or after", "Like 2026-11-18."), ("before", "Crawled before", "Like 2026-12-01."))


@require_safe
def advanced(request: HttpRequest) -> HttpResponse:
    """Sent with something in it, it leads to the search for that."""
    query = query_of(request.GET)
    if query and "go" in request.GET:
        return redirect(f"{reverse('search')}?{urlencode({'q': query})}")
    given = {name: request.GET.get(name, "")[:_LONGEST] for name in _names()}
    context = {
        "words": [(*field, given[field[0]]) for field in WORDS],
        "places": [(*field, given[field[0]]) for field in PLACES],
        "dates": [(*field, given[field[0]]) for field in DATES],
        "types": TYPES,
        "type": given["type"],
        "empty": "go" in request.GET,
    }
    return render(request, "search/advanced.html", context)


def _names() -> list[str]:
    return [field[0] for field in (*WORDS, *PLACES, *DATES)] + ["type"]


def query_of(data: QueryDict) -> str:
    """What the fields ask for, in the query language. Pure."""
    given = {name: " ".join(data.get(name, "")[:_LONGEST].replace('"', " ").split()) for name in _names()}
    words = {name: given[name].split() for name in ("all", "any", "none", "title")}
    parts = [word for word in words["all"] if word.strip("|") and word != "OR"]
    parts += [f'"{given["phrase"]}"'] if WORD.search(given["phrase"]) else []
    parts += [" OR ".join(word for word in words["any"] if word != "OR")] if words["any"] else []
    parts += [f"-{word.lstrip('-')}" for word in words["none"] if WORD.search(word)]
    parts += [f"title:{word}" for word in words["title"] if WORD.search(word)]
    parts += [f"type:{given['type']}"] if given["type"] in TYPES else []
    parts += [f'{name}:"{given[name]}"' for name, *_ in PLACES if given[name]]
    parts += [f"{name}:{given[name]}" for name, *_ in DATES if _is_day(given[name])]
    return " ".join(part for part in parts if part)


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
