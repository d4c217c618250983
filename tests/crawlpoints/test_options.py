"""A new option of a crawl point is one declaration beside its column (crawlpoints.models): here one is made up, in a
process of its own, and found at every place where people and programs meet an option."""

import subprocess
import sys
from dataclasses import fields
from pathlib import Path

from crawler.launching.launch import settings_of
from crawler.values import PointSettings
from crawlpoints.models import OPTIONS, CrawlPoint

ROOT = Path(__file__).parents[2]
OF_PEOPLE = {"note", "ignore_robots_reason"}  # what the crawler has no use for
MADE_UP = """
from types import SimpleNamespace

import django
from django.db.models.signals import class_prepared


def declare(sender, **_):
    if sender.__module__ == "crawlpoints.models" and sender.__name__ == "CrawlPoint":
        from crawlpoints.models import _switch
        option = _switch("made_up_fl", "Made up", "For a test.", on=1, csv="made_up", summary="is made up")
        option.contribute_to_class(sender, "made_up")


class_prepared.connect(declare)
django.setup()

from django.template.loader import render_to_string

from clearinghouse.audit.models import Entry
from crawler.reports.kinds.audit_report import difference
from crawler.runs.tabs.tab_settings import used_points
from crawlpoints import point_checks, services
from crawlpoints.admin import CrawlPointAdmin, CrawlPointForm
from crawlpoints.dialog.forms import LABELS, STARTING, PointForm, comparable, initial_of
from crawlpoints.documents.history_views import changes_of
from crawlpoints.imports.line_verdicts import _differing, _values
from crawlpoints.imports.short_import import POINT_COLUMNS
from crawlpoints.models import CrawlPoint
from crawlpoints.panel.api import CRAWL_POINT, SHOWN_FIELDS
from crawlpoints.panel.views import csv_line

URL = "https://a.example/"
point = CrawlPoint(pk=1, url=URL, root=URL)
assert point.made_up == 1

# The dialog: shown, filled in, sent, checked.
form = PointForm(initial=initial_of(point, []))
assert (form["made_up"].label, form["made_up"].help_text, form["made_up"].value()) == ("Made up", "For a test.", True)
assert 'id="id_made_up"' in render_to_string("dialog/point_more.html", {"form": form})
assert STARTING["made_up"] is True and not form.more_open
entries = PointForm({"url": URL, "root": URL, "depth": "1"}).entries()
assert point_checks.check_point(entries, point_checks.Around())["made_up"] == 0
assert point_checks.check_point({**services.NEW, "url": URL, "root": URL}, point_checks.Around())["made_up"] == 1

# What is stored, copied and told of it; two people's values side by side.
assert "made_up" in services.COLUMNS and services.facts(point)["made_up"] == 1
assert LABELS["made_up"] == "Made up" and comparable({"made_up": 1})["made_up"] == "yes"
assert changes_of(Entry(before={"made_up": 1}, after={"made_up": 0})) == [("Made up", "1", "0")]
assert difference({"made_up": 1}, {"made_up": 0}) == "made up: yes → no"
assert used_points({"points": [{"url": URL, "root": URL, "made_up": True}]})[0]["options"] == "is made up"

# CSV out and in, programs, Django's admin.
document = SimpleNamespace(pk=1, title="A document")
assert dict(zip(POINT_COLUMNS, csv_line(document, point, []), strict=True))["made_up"] == 1
assert [_values({"made_up": cell})["made_up"] for cell in ("yes", "no", "")] == [1, 0, 1]
assert _differing(services.facts(point), services.facts(point) | {"made_up": 0}) == ["made_up"]
assert "made_up" in SHOWN_FIELDS
assert CRAWL_POINT.of(point, authentication="none", has_password=False)["made_up"] is True
assert "made_up" in CrawlPointAdmin.fields and CrawlPointForm().fields["made_up"].label == "Made up"
"""


def test_a_made_up_option_is_found_wherever_people_and_programs_meet_options() -> None:
    done = subprocess.run([sys.executable, "-c", MADE_UP], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_run_takes_every_option_that_the_crawler_obeys_as_it_stands_in_its_column() -> None:
    obeyed = {item.name for item in fields(PointSettings)} - {"id"}
    assert obeyed == OPTIONS.keys() - OF_PEOPLE
    point = CrawlPoint(
        pk=7, url="https://a.example/x", root="https://a.example/", max_pages=None, login=None, append="?a"
    )
    for name, option in OPTIONS.items():
        if option.kind == "switch":
            setattr(point, name, 1 - option.default)
    taken = settings_of(point)
    assert (taken.id, taken.url, taken.root, taken.append) == (7, point.url, point.root, "?a")
    assert (taken.max_pages, taken.login) == (0, "")
    assert all(
        getattr(taken, name) is not bool(option.default) for name, option in OPTIONS.items() if option.kind == "switch"
    )
