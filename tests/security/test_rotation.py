"""manage.py rotate_keys: every password gets the new key, an old key goes when nothing needs it, nobody notices."""

import stat
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from clearinghouse.database.records import acting_as
from clearinghouse.library.models import Document
from clearinghouse.vault import sealing
from crawler.fetch.sign_in.point_key import PointKey
from crawler.launching.launch import snapshot_of
from crawler.sites.credentials import InstanceCredentials
from crawler.upkeep import key_rotation
from crawlpoints import services
from crawlpoints.models import CrawlPoint
from crawlpoints.queries import password_of
from tests.security.canary import CANARY, found_in

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
ROWS = 230  # more than two batches
URL = "https://quality.example.gov/{}/"


@pytest.fixture
def file(tmp_path: Path, settings: Any) -> Path:
    """The keys of this test stand in a file of its own."""
    path = tmp_path / "credential.keys"
    path.write_text("dev:" + "QUFB" * 10 + "QUE=")
    settings.CREDENTIAL_KEYS = f"file:{path}"
    return path


@pytest.fixture
def points(document: Document, file: Path) -> list[CrawlPoint]:
    url = URL.format("first")
    values = {"url": url, "root": url, "auth_type": 1, "login": "reader", "password": CANARY}
    with acting_as("editor"):
        services.add_crawl_point(document, values)
    made = []
    for number in range(ROWS):
        here = URL.format(number)
        sealed = sealing.seal(CANARY, sealing.binding_of(here, here, 1))
        made.append(CrawlPoint(url=here, root=here, auth_type=1, login="reader", password=sealed, updated_by="theirs"))
    CrawlPoint.everything.bulk_create(made)
    return list(CrawlPoint.everything.order_by("pk"))


def rotate() -> str:
    out = StringIO()
    call_command("rotate_keys", stdout=out)
    return out.getvalue()


def test_every_password_is_sealed_with_a_new_key_and_the_old_one_goes(points: list[CrawlPoint], file: Path) -> None:
    points[5].delete()
    old = file.read_text()
    said = rotate()
    new = file.read_text()
    assert new != old and "," not in new and not new.startswith("dev:")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert f"Sealed {ROWS + 1} passwords" in said and "Removed the key dev" in said
    assert found_in(said) == [] and new.partition(":")[2] not in said
    after = list(CrawlPoint.everything.order_by("pk"))
    assert {password_of(point) for point in after} == {CANARY}, "also those of deleted crawl points"
    assert {point.updated_by for point in after[1:5]} == {"theirs"}
    assert all(new.version == (old.version or 0) + 1 for old, new in zip(points[:5], after[:5], strict=True))


def test_killed_half_way_it_goes_on_and_makes_no_third_key(points: list[CrawlPoint], file: Path) -> None:
    added = key_rotation.add_key()
    assert next(key_rotation.seal_anew()) == 100  # and here it is killed
    assert set(key_rotation.keys_in_use()) == {"dev", added}
    assert {password_of(point) for point in CrawlPoint.everything.all()} == {CANARY}, "both keys are there"
    assert f"Sealed {ROWS + 1 - 100} passwords with {added}" in rotate()
    assert sealing.key_ids() == [added]


def test_a_crawl_that_runs_meanwhile_reads_passwords_under_either_key(
    points: list[CrawlPoint], document: Document
) -> None:
    running = InstanceCredentials()
    [owner] = snapshot_of(document).points
    key_rotation.add_key()
    before = InstanceCredentials().for_request(owner, URL.format("first"))
    rotate()
    after = running.for_request(owner, URL.format("first"))
    assert isinstance(before, PointKey) and isinstance(after, PointKey)
    assert before.password == after.password == CANARY


def test_a_password_that_cannot_be_opened_keeps_its_key_and_is_told(points: list[CrawlPoint], file: Path) -> None:
    CrawlPoint.everything.filter(pk=points[3].pk).update(root="https://elsewhere.example.gov/")
    with pytest.raises(CommandError, match=rf"1 password cannot be opened \(crawl points {points[3].pk}\)"):
        rotate()
    assert sealing.key_ids()[1:] == ["dev"]
    CrawlPoint.everything.filter(pk=points[3].pk).update(root=points[3].root)
    assert "Sealed 1 password " in rotate(), "put right again, it opens"
    assert len(sealing.key_ids()) == 1


def test_keys_of_the_environment_are_the_operators_to_write(points: list[CrawlPoint], settings: Any) -> None:
    settings.CREDENTIAL_KEYS = old = sealing.keys_text()
    with pytest.raises(CommandError, match="put a new one in front"):
        rotate()
    settings.CREDENTIAL_KEYS = "newer:" + "QkJC" * 10 + "QkI=," + old
    assert "Nothing needs the key dev: take it out" in rotate()
    settings.CREDENTIAL_KEYS = settings.CREDENTIAL_KEYS.partition(",")[0]
    assert {password_of(point) for point in CrawlPoint.everything.all()} == {CANARY}
