"""Roll back, and roll forward again: asks first, says what each server will show, offers the crawls to leave out."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from clearinghouse.accounts.policies import Action, require
from crawler.errors import WrongMoment
from crawler.runs.views.leave_out_views import LeaveOutChoice, choices, ticked
from crawlpoints.point_checks import Invalid

from ..states import unfinished
from ..switching import rollback
from . import step_board as boards


@dataclass(frozen=True, slots=True)
class _Way:
    word: str
    goals: list[tuple[boards.TargetRow, int]]

    @property
    def leading(self) -> tuple[boards.TargetRow | None, int]:
        """The server the page speaks of: primary, where that one goes anywhere."""
        moving = [one for one in self.goals if one[1]]
        return next((one for one in moving if one[0].name == "primary"), moving[0] if moving else (None, 0))

    def crawls(self) -> list[LeaveOutChoice]:
        """Back: those the newer generation brought; forward: those of them that are left out."""
        target, goal = self.leading
        if target is None:
            return []
        newer, older = (target.generation, goal) if self.word == "back" else (goal, target.generation)
        rows = rollback.brought(newer, older)
        return choices([one for one in rows if (one.left_out_at is None) == (self.word == "back")])


@require_http_methods(["GET", "HEAD", "POST"])
def back(request: HttpRequest) -> HttpResponse:
    return _asked(request, "back")


@require_http_methods(["GET", "HEAD", "POST"])
def forward(request: HttpRequest) -> HttpResponse:
    return _asked(request, "forward")


def _asked(request: HttpRequest, word: str) -> HttpResponse:
    require(request.user, Action.PROPAGATE)
    rows = boards.targets()
    way = _Way(word, [(row, row.back_to if word == "back" else row.forward_to) for row in rows])
    # What every target shows: a press that was meant for something else does nothing.
    seen = " ".join(str(row.generation) for row in rows)
    if request.method != "POST":
        return _page(request, way, seen)
    if request.POST.get("seen") not in (None, seen):
        messages.error(request, f"Another generation was switched on meanwhile. Check again before you roll {word}.")
        return redirect(f"propagation-roll{word}")
    try:
        goals = _carried_out(request, way)
    except Invalid as refusal:
        return _page(request, way, seen, str(refusal))
    except WrongMoment as refusal:
        messages.error(request, str(refusal))
        return redirect("propagation")
    shown = ", ".join(f"{boards.NAMES[where]} shows generation {goal}" for where, goal in goals.items())
    messages.success(request, f"Rolled {word}. {shown}.")
    return redirect("propagation")


def _carried_out(request: HttpRequest, way: _Way) -> dict[str, int]:
    target = request.POST.get("target")
    target = target if target in boards.NAMES else None
    by, crawls = request.user.get_username(), ticked(way.crawls(), request.POST)
    if way.word == "forward":
        return rollback.roll_forward(target, by=by, take_in=crawls)
    reason = request.POST.get("reason", "").replace("\0", "")
    return rollback.roll_back(target, by=by, leave_out=crawls, reason=reason)


def _page(request: HttpRequest, way: _Way, seen: str, problem: str = "") -> HttpResponse:
    target, goal = way.leading
    crawls = way.crawls()
    context: dict[str, Any] = {
        "way": way.word,
        "goals": way.goals,
        "goal": goal,
        "from_generation": target.generation if target else 0,
        "crawls": crawls,
        "sent": request.POST.getlist("crawl") if problem else [one.value for one in crawls if way.word == "forward"],
        "reason": request.POST.get("reason", ""),
        "problem": problem,
        "seen": seen,
        "serving": next((row for row, _ in way.goals if row.serving), None),
        "trouble": boards.trouble(),
        "unfinished": unfinished(),
    }
    return render(request, "propagation/rollback.html", context, status=422 if problem else 200)
