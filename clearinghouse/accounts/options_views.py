"""Owns: the forms of the house's options: who may launch, crawl defaults, notices. Does not: keep them (options.py).

Called by: urls.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from . import options
from .forms import problems_of
from .policies import Action, require

MAX_DEPTH = 999
MAX_PAGES = 2_147_483_647
_SPEEDS = [("", "As the server is set up"), ("polite", "Polite"), ("medium", "Medium"), ("fast", "Fast")]
_WRONG = ("invalid", "required", "min_value", "max_value")


class LaunchingForm(forms.Form):
    developers_launch = forms.BooleanField(
        label="Content developers may launch crawls of their own documents",
        required=False,
        help_text="Also pause, resume, stop and cancel runs that hold only documents assigned to them.",
    )
    managers_launch = forms.BooleanField(
        label="Project managers may launch crawls of their projects",
        required=False,
        help_text="Also pause, resume, stop and cancel runs that hold only documents of their projects.",
    )


class DefaultsForm(forms.Form):
    default_depth = forms.IntegerField(
        label="Depth limit",
        min_value=0,
        max_value=MAX_DEPTH,
        help_text="How many clicks from the URL. 0 = only the URL itself.",
        error_messages=dict.fromkeys(_WRONG, f"Depth limit must be a whole number from 0 to {MAX_DEPTH}"),
        widget=forms.TextInput(attrs={"class": "w4", "inputmode": "numeric"}),
    )
    default_max_pages = forms.IntegerField(
        label="Maximum pages",
        min_value=0,
        max_value=MAX_PAGES,
        help_text="0 = no limit.",
        error_messages=dict.fromkeys(_WRONG, "Maximum pages must be a whole number, or 0 for no limit"),
        widget=forms.TextInput(attrs={"class": "w4", "inputmode": "numeric"}),
    )
    default_speed = forms.ChoiceField(
        label="Speed of a launch", choices=_SPEEDS, required=False, widget=forms.RadioSelect
    )


class NoticesForm(forms.Form):
    default_notices = forms.ChoiceField(
        label="Notices by e-mail",
        choices=[
            (options.DIGEST, "Once a day, together"),
            (options.EACH, "Each at once"),
            (options.TRAY_ONLY, "Never; only in the In Tray"),
        ],
        help_text="For people who have not chosen themselves under Preferences.",
        widget=forms.RadioSelect,
    )


@dataclass(frozen=True, slots=True)
class Page:
    form: type[forms.Form]
    title: str
    about: str


def view_of(page: Page, url_name: str) -> Callable[[HttpRequest], HttpResponse]:
    @require_http_methods(["GET", "HEAD", "POST"])
    def view(request: HttpRequest) -> HttpResponse:
        require(request.user, Action.ADMINISTER)
        names = tuple(page.form.base_fields)
        form = page.form(request.POST or None, initial=_initial(page.form, options.all_of(*names)))
        if request.method == "POST":
            form = page.form(request.POST)
            if form.is_valid():
                changed = options.choose({name: _word(form.cleaned_data[name]) for name in names})
                messages.success(request, "Saved." if changed else "Nothing was changed.")
                return redirect(url_name)
        context = {"form": form, "page": page, "problems": problems_of(form) if form.is_bound else []}
        return render(request, "accounts/options.html", context, status=422 if form.is_bound else 200)

    return view


def _initial(form: type[forms.Form], stored: dict[str, str]) -> dict[str, Any]:
    boxes = {name for name, field in form.base_fields.items() if isinstance(field, forms.BooleanField)}
    return {name: value == "yes" if name in boxes else value for name, value in stored.items()}


def _word(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


launching = view_of(Page(LaunchingForm, "Who may launch", "Administrators always may."), "launching")
crawl_defaults = view_of(
    Page(DefaultsForm, "Crawl defaults", "What new forms begin with. Existing crawl points are not changed."),
    "crawl-defaults",
)
notice_defaults = view_of(Page(NoticesForm, "Notices", "Every notice is in the In Tray, too."), "notice-defaults")
