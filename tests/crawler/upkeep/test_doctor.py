"""manage.py doctor: each part is ok, a warning or trouble, with what to do; exit 1 when there is trouble."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from clearinghouse.database.records import acting_as
from clearinghouse.library.models import Document
from clearinghouse.published.models import LiveGeneration, PublicSwitch
from clearinghouse.vault.sealing import keys_text
from crawler.models import Fault, Mark, Propagation
from crawler.upkeep import machines
from crawler.upkeep.doctor import key_tests
from crawler.upkeep.doctor import system_tests as parts
from crawler.upkeep.doctor.types import OK, TROUBLE, WARNING, DoctorLine
from crawlpoints import services
from crawlpoints.models import CrawlPoint
from tests.flow.house import House
from tests.security.canary import CANARY, found_in

EVERYWHERE = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
URL = "https://quality.example.gov/"


def lines(house: House) -> tuple[int, dict[str, dict[str, str]]]:
    import json

    done = house.run("doctor", "--json")
    return done.returncode, {line["part"]: line for line in json.loads(done.stdout)["lines"]}


def test_a_fresh_house_hears_what_is_not_started_and_what_is_well(house: House) -> None:
    code, found = lines(house)
    assert code == 1
    assert {part for part, line in found.items() if line["level"] == TROUBLE} == {"Tick"}
    assert found["Redis"]["level"] == WARNING, "work goes on without it"
    assert found["Workers"]["said"].startswith("Not known"), "who did not answer has not said that nobody is there"
    assert found["Database WebCrawl"]["said"].startswith("whole, migrated and writable")
    assert found["State folder"]["level"] == found["Targets"]["level"] == OK
    assert all(line["do"] for line in found.values() if line["level"] != OK)


def test_a_damaged_house_hears_which_part_and_what_to_do(house: House) -> None:
    (house.folder / "primary.sqlite3").unlink()
    (house.folder / "backup.sqlite3").write_bytes(b"not a database at all" * 100)
    (house.folder / "credential.keys").chmod(0o644)
    code, found = lines(house)
    assert code == 1
    assert found["Database doc_library (primary)"]["do"] == "run manage.py prepare"
    assert "is not an SQLite database" in found["Database doc_library (backup)"]["said"]
    assert found["File credential.keys"]["do"].startswith("chmod go-rwx")
    assert "restore it from a backup" in found["Database doc_library (backup)"]["do"]
    assert found["Targets"]["level"] == WARNING and "primary does not answer" in found["Targets"]["said"]
    assert found["Database WebCrawl"]["level"] == OK, "one part that is broken hides no other"
    assert not (house.folder / "primary.sqlite3").exists(), "looking makes no file"


def said(found: list[DoctorLine], part: str) -> DoctorLine:
    return next(line for line in found if line.part == part)


def point_with_password(document: Document) -> CrawlPoint:
    values = {"url": URL, "root": URL, "auth_type": 1, "login": "reader", "password": CANARY}
    with acting_as("editor"):
        services.add_crawl_point(document, values)
    return CrawlPoint.objects.get(url=URL)


@EVERYWHERE
def test_passwords_that_do_not_open_are_named_by_crawl_point_and_never_shown(document: Document) -> None:
    point = point_with_password(document)
    assert said(list(key_tests.passwords()), "Passwords of sites").level == OK
    CrawlPoint.everything.filter(pk=point.pk).update(root="https://elsewhere.example.gov/")
    line = said(list(key_tests.passwords()), "Passwords of sites")
    assert line.level == TROUBLE and f"(crawl points {point.pk})" in line.said
    assert found_in(repr(line)) == []


@EVERYWHERE
def test_passwords_under_an_older_key_are_a_warning(document: Document, settings: Any) -> None:
    point_with_password(document)
    settings.CREDENTIAL_KEYS = "newer:" + "QUFB" * 10 + "QUE=," + keys_text()
    line = said(list(key_tests.passwords()), "Passwords of sites")
    assert line.level == WARNING and "rotate_keys" in line.do


@EVERYWHERE
def test_targets_that_show_different_generations_and_a_failed_propagation_are_told() -> None:
    assert said(list(parts.targets()), "Targets").level == OK
    LiveGeneration.objects.using("primary").update_or_create(pk=1, defaults={"generation": 7})
    PublicSwitch.objects.using("webcrawl").update_or_create(
        pk=1, defaults={"serving": "backup", "trouble": "exit code 3"}
    )
    Propagation.objects.create(requested_by="x", created_at=timezone.now(), state="failed", error="primary is away")
    found = list(parts.targets())
    assert said(found, "Targets").level == WARNING and "primary shows 7" in said(found, "Targets").said
    assert {line.level for line in found if line.part == "Public"} == {WARNING, TROUBLE}
    assert "primary is away" in said(found, "Propagation").said


@EVERYWHERE
def test_a_mark_from_the_future_is_trouble_with_the_clock() -> None:
    Mark.objects.create(name="tick", at=timezone.now() + timedelta(hours=2))
    assert [line.level for line in parts.clocks()] == [OK, TROUBLE]


@EVERYWHERE
def test_faults_of_the_last_day_are_a_warning() -> None:
    then = {"first_at": timezone.now(), "process": "tick", "sentence": "ValueError"}
    Fault.objects.create(key=b"1" * 32, at=timezone.now() - timedelta(days=2), **then)
    assert [line.level for line in parts.faults()] == [OK]
    Fault.objects.create(key=b"2" * 32, at=timezone.now(), **then)
    assert [line.level for line in parts.faults()] == [WARNING]


@pytest.mark.parametrize(
    ("free", "total", "good"), [(2, 10, True), (0.9, 10, False), (40, 1000, False), (60, 1000, True)]
)
def test_little_space_is_told_before_it_is_gone(
    free: float, total: float, good: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    gigabytes = Usage(int(total * 1e9), int((total - free) * 1e9), int(free * 1e9))
    monkeypatch.setattr(machines.shutil, "disk_usage", _always(gigabytes))
    assert machines.disk(Path("/")).good is good


class Usage:
    def __init__(self, total: int, used: int, free: int) -> None:
        self.total, self.used, self.free = total, used, free


def _always(usage: Usage) -> Callable[[Any], Usage]:
    return lambda folder: usage
