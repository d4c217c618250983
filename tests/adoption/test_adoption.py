"""An existing doc_library is adopted without losing a row or a column, and goes on working for its other programs."""

import random
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.adoption import old_library
from tests.adoption.conftest import PROJECT, Install, make_install

PAGES = 3
KINDS = list(product(["sqlite", "postgresql"], [True, False]))
NAMES = [f"{vendor}-{'with' if metas else 'without'}-metacolumns" for vendor, metas in KINDS]
# Their type or content changes on purpose: a sealed password, a version number, times with a zone.
CHANGED = {"crawl_pw_str", "dirty_fl", "create_dt", "update_dt", "update_nm", "ts"}


class Adopted(Install):
    before: dict[str, tuple[list[str], list[tuple]]]
    states: dict[str, str]


@pytest.fixture(scope="module", params=KINDS, ids=NAMES)
def adopted(request: Any, tmp_path_factory: Any) -> Install:
    """An old library on content development and one on primary, adopted. Tests only add rows of their own."""
    vendor, metacolumns = request.param
    install = make_install(request, tmp_path_factory.mktemp("adopted"), vendor)
    install.__class__ = Adopted
    install.old_library("default", metacolumns=metacolumns, pages=PAGES)
    install.old_library("primary", metacolumns=metacolumns, pages=PAGES)
    install.before = {table: _content(install, table) for table in old_library.TABLES}
    install.states = install.prepare()
    return install


def _content(install: Install, table: str, columns: list[str] | None = None) -> tuple[list[str], list[tuple]]:
    columns = columns or sorted(install.columns("default", table) - CHANGED)
    key = next(iter(old_library.TABLES[table.removesuffix("_before")]["columns"]))
    rows = install.rows("default", f"SELECT {', '.join(columns)} FROM {table} ORDER BY {key}")
    return columns, [tuple(bytes(value) if isinstance(value, memoryview) else value for value in row) for row in rows]


def test_prepare_says_which_databases_it_adopted(adopted: Adopted) -> None:
    assert adopted.states == {"default": "adopted", "webcrawl": "created", "primary": "adopted", "backup": "created"}


def test_no_row_and_no_column_of_theirs_is_lost(adopted: Adopted) -> None:
    for table, (columns, rows) in adopted.before.items():
        name = f"{table}_before" if table in old_library.RESULTS else table
        assert set(columns) <= adopted.columns("default", name)
        kept = _content(adopted, name, columns)[1]
        assert [row for row in rows if row not in kept] == [], table


def test_a_table_of_theirs_on_production_that_we_do_not_use_is_not_touched(adopted: Adopted) -> None:
    assert "point_key" not in adopted.columns("primary", "crawl_point")
    assert adopted.rows("primary", "SELECT doc_id FROM doc ORDER BY 1") == [(11,), (12,), (13,)]


def test_earlier_results_are_generation_1_under_their_own_ids(adopted: Adopted) -> None:
    for alias in ("default", "primary"):
        assert adopted.rows(alias, "SELECT generation FROM live_generation") == [(1,)]
        pages = adopted.rows(
            alias,
            "SELECT doc_crawl_page_id, doc_id, crawl_page_url, title_str, updated_fl FROM doc_crawl_page ORDER BY 1",
        )
        assert pages == [
            (1000 + n, 11, f"https://a.example/energy/{n}.htm", f"Page {n}", 1) for n in range(1, PAGES + 1)
        ]
        metas = adopted.rows(
            alias, "SELECT crawl_page_meta_id, doc_crawl_page_id, name_str, content_str FROM crawl_page_meta ORDER BY 1"
        )
        assert metas[:2] == [(5002, 1001, "keywords", "wind, water 1"), (5003, 1001, "author", "")]
        assert len(metas) == 2 * PAGES
        assert {bytes(body) for (body,) in adopted.rows(alias, "SELECT crawl_file FROM doc_crawl_page")} == {
            old_library.PAGE
        }


def test_earlier_results_can_be_found_by_their_words(adopted: Adopted) -> None:
    ((text,),) = adopted.rows("primary", "SELECT DISTINCT text FROM published_version")
    assert text == "Solar heliostats & mirrors"


def test_earlier_results_are_in_the_index(adopted: Adopted) -> None:
    code = """
from clearinghouse.search.engine import search
found = search("heliostats", alias="primary")
print(found.total, found.hits[0].url)
"""
    assert adopted.python(code) == f"{PAGES} https://a.example/energy/1.htm"


def test_our_ids_start_above_theirs(adopted: Adopted) -> None:
    code = """
from clearinghouse.database.aliases import *
from django.utils import timezone
from clearinghouse.published.models import PublishedMeta, PublishedVersion
from crawler.models import PageHead, PageVersion, Propagation
now = timezone.now()
kw = dict(doc_id=1, digest=b"1", url_key=b"1", crawled_at=now, created_at=now)
print(PublishedVersion.objects.using(PRIMARY).create(page_id=1, type_id=1, updated_by="x", **kw).pk,
      PublishedMeta.objects.using(PRIMARY).create(published_id=0, name="", content="").pk,
      PageHead.objects.create(doc_id=1, url_key=b"1", version_id=1).pk,
      PageVersion.objects.create(run_id=1, doc_id=1, url_key=b"1", digest=b"1", type_id=1, found_at=now).pk,
      Propagation.objects.create(requested_by="x", created_at=now).pk)
"""
    version, meta, head, stored, propagation = map(int, adopted.python(code).split())
    assert version > 1000 + PAGES
    assert meta > 5001 + 2 * PAGES
    assert head > 1000 + PAGES
    assert stored > 1000 + PAGES
    assert propagation > 1


def test_a_plain_password_is_sealed_and_still_known(adopted: Adopted) -> None:
    ((stored,),) = adopted.rows("default", "SELECT crawl_pw_str FROM crawl_point WHERE crawl_point_id = 7")
    assert stored.startswith("sealed:")
    code = """
from crawlpoints.models import CrawlPoint
from clearinghouse.vault.sealing import binding_of, unseal
point = CrawlPoint.objects.get(pk=7)
print(unseal(point.password, binding_of(point.url, point.root, point.auth_type, point.sign_in_url)))
"""
    assert adopted.python(code) == old_library.PASSWORD


def test_no_plain_password_stays_in_the_files(adopted: Adopted) -> None:
    if adopted.vendor == "sqlite":
        library = list(adopted.folder.glob("doc_library.sqlite3*"))
        assert not [file.name for file in library if old_library.PASSWORD.encode() in file.read_bytes()]


def test_a_view_of_theirs_over_the_results_shows_the_live_generation(adopted: Adopted) -> None:
    assert adopted.rows("default", "SELECT * FROM their_report") == [(11, PAGES)]


def test_an_index_of_theirs_is_kept(adopted: Adopted) -> None:
    catalog = "sqlite_master WHERE name" if adopted.vendor == "sqlite" else "pg_indexes WHERE indexname"
    assert len(adopted.rows("default", f"SELECT 1 FROM {catalog} = 'their_index'")) == 1


def test_other_programs_insert_as_before_and_we_beside_them(adopted: Adopted) -> None:
    for doc in (200, 201):
        adopted.rows("default", f"INSERT INTO doc (doc_id, doc_status_id) VALUES ({doc}, 4) RETURNING 1")
    adopted.rows(
        "default",
        "INSERT INTO crawl_point (crawl_point_id, crawl_point_url, root_str, page_depth_int)"
        " VALUES (9, 'https://c.example/', 'https://c.example/', 1) RETURNING 1",
    )
    code = """
from clearinghouse.library.models import Document
from crawlpoints.models import CrawlPoint
point = CrawlPoint.objects.get(pk=9)
point.note = "read, changed and saved"
point.save()
mine = CrawlPoint.objects.create(url="https://d.example/" + "x" * 2000, root="https://d.example/")
print(Document.objects.create().pk, mine.pk, point.version, point.active, point.drop_sessions, repr(point.sign_in_url))
"""
    document, point, version, active, drop, sign_in = adopted.python(code).split()
    assert (int(document) > 201, int(point) > 9, int(version) > 0) == (True, True, True)
    assert (active, drop, sign_in) == ("1", "1", "''")


def test_a_repeated_prepare_changes_nothing(adopted: Adopted) -> None:
    before = _everything(adopted)
    assert set(adopted.prepare().values()) == {"up to date"}
    assert _everything(adopted) == before


def _everything(install: Install) -> list[Any]:
    tables = [*(t for t in old_library.TABLES if t not in old_library.RESULTS), "doc_crawl_page_before", "field_type"]
    tables += ["published_version", "published_meta", "published_interval", "published_document", "live_generation"]
    tables += ["doc_crawl_page", "crawl_page_meta", "django_migrations"]
    return [sorted(map(repr, install.rows("default", f"SELECT * FROM {table}"))) for table in tables]


def test_a_prepare_killed_anywhere_can_be_repeated(install: Install) -> None:
    install.old_library("default", pages=700)
    killed = [install.killed_prepare(seconds + random.uniform(0.0, 0.3)) for seconds in (0.4, 0.65, 0.9, 1.15)]
    states = install.prepare()
    assert any(killed)
    assert set(states) == {"default", "webcrawl", "primary", "backup"}
    assert install.rows("default", "SELECT count(*), min(doc_crawl_page_id) FROM doc_crawl_page") == [(700, 1001)]
    assert install.rows("default", "SELECT count(*) FROM crawl_page_meta") == [(1400,)]
    assert install.rows("default", "SELECT count(*) FROM doc_crawl_page_before") == [(700,)]
    assert install.rows("default", "SELECT count(*) FROM crawl_point") == [(2,)]
    assert install.rows("default", "SELECT * FROM their_report") == [(11, 700)]
    assert set(install.prepare().values()) == {"up to date"}


def test_two_prepares_at_the_same_time_do_it_once(install: Install) -> None:
    install.old_library("default", pages=200)
    command = [sys.executable, "manage.py", "prepare", "--json"]
    both = [
        subprocess.Popen(
            command, cwd=PROJECT, env=install.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    told = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    assert sorted('"adopted"' in out for out, _ in told) == [False, True]
    assert install.rows("default", "SELECT count(*) FROM doc_crawl_page") == [(200,)]


def test_results_nominally_deleted_stay_aside_unseen(install: Install) -> None:
    install.old_library("default", pages=3)
    install.rows("default", "UPDATE doc_crawl_page SET deleted_fl = 1 WHERE doc_crawl_page_id = 1002 RETURNING 1")
    install.prepare()
    assert install.rows("default", "SELECT doc_crawl_page_id FROM doc_crawl_page ORDER BY 1") == [(1001,), (1003,)]
    assert install.rows("default", "SELECT count(*) FROM doc_crawl_page_before") == [(3,)]


def test_a_library_without_results_is_adopted_too(install: Install) -> None:
    install.old_library("default", pages=0)
    assert install.prepare()["default"] == "adopted"
    assert install.rows("default", "SELECT generation FROM live_generation") == [(0,)]
    assert set(install.prepare().values()) == {"up to date"}


def test_an_old_webcrawl_database_is_adopted_too(install: Install) -> None:
    install.execute("webcrawl", *old_library.webcrawl_statements(install.vendor))
    assert install.prepare()["webcrawl"] == "adopted"
    assert install.rows("webcrawl", "SELECT queue_nm FROM active_queue") == [("doc 11",)]
    assert install.rows("webcrawl", "SELECT count(*) FROM doc_crawl_page_before") == [(1,)]
    code = """
from crawler.models import CrawledPage, PageHead
print(CrawledPage.objects.create(url="https://a.example/" + "x" * 2000, doc_id=1).pk,
      PageHead.objects.create(doc_id=1, url_key=b"1", version_id=1).pk)
"""
    page, head = map(int, install.python(code).split())
    assert (page > 5, head > 4000) == (True, True)
    assert set(install.prepare().values()) == {"up to date"}


def test_a_webcrawl_database_that_was_lost_begins_above_what_targets_showed(install: Install) -> None:
    install.old_library("primary")
    install.prepare()
    install.execute("primary", "UPDATE live_generation SET generation = 37")
    if install.vendor == "sqlite":
        install.file("webcrawl").unlink()
    else:
        install.urls["webcrawl"] = install.env["CLEARINGHOUSE_DB_WEBCRAWL"] = install.server.url()
    assert install.prepare()["webcrawl"] == "created"
    code = """
from django.utils import timezone
from crawler.models import Propagation
print(Propagation.objects.create(requested_by="x", created_at=timezone.now()).pk)
"""
    assert install.python(code) == "38"


def test_columns_of_theirs_that_must_be_given_are_said_not_changed(install: Install) -> None:
    install.old_library("default")
    code = "their_code varchar(20) NOT NULL"
    if install.vendor == "sqlite":
        anew = f"CREATE TABLE field_type (field_type_id int PRIMARY KEY, {code})"
        install.execute("default", "DROP TABLE field_type", anew)
    else:
        install.execute("default", f"ALTER TABLE field_type ADD {code}")
    done = install.command("prepare")
    assert done.returncode == 0, done.stderr
    assert "field_type.their_code must be given but has no default" in done.stdout
    assert set(install.prepare().values()) == {"up to date"}


def test_people_who_may_read_the_results_may_read_them_afterwards(install: Install) -> None:
    if install.vendor == "sqlite":
        return  # SQLite knows no users
    role = f"reader_{install.urls['default'].split('test_')[1].split('?')[0]}"
    install.old_library("default")
    install.execute("default", f"CREATE ROLE {role}", f"GRANT SELECT ON doc_crawl_page, their_report TO {role}")
    install.prepare()
    install.execute("default", "DELETE FROM django_migrations WHERE app = 'admin' AND name > '0002'")
    assert install.prepare()["default"] == "migrated"  # the views were down meanwhile
    for view in ("doc_crawl_page", "their_report"):
        assert install.rows("default", f"SELECT has_table_privilege('{role}', '{view}', 'SELECT')") == [(True,)]


def test_views_of_theirs_survive_a_migration_that_was_killed_while_they_were_down(install: Install) -> None:
    install.old_library("default")
    install.prepare()
    install.python("from clearinghouse.database.adoption import database_views; database_views.drop_views('default')")
    assert "their_report" not in str(_view_names(install))
    install.prepare()
    assert install.rows("default", "SELECT * FROM their_report") == [(11, 3)]
    assert "clearinghouse_kept" not in str(_view_names(install))


def _view_names(install: Install) -> list[tuple]:
    if install.vendor == "sqlite":
        return install.rows("default", "SELECT name FROM sqlite_master")
    return install.rows("default", "SELECT relname FROM pg_class")


def test_rows_that_refer_to_nothing_do_not_stop_an_adoption(tmp_path: Path) -> None:
    install = Install(tmp_path)
    install.old_library("default")
    install.rows("default", "INSERT INTO doc_field_crawl_point VALUES (71, 999, 110, 7, 0, 0, null, null, null, null)")
    done = install.command("prepare")
    assert done.returncode == 0, done.stderr
    assert "1 row refers to what does not exist" in done.stdout
    assert install.rows("default", "SELECT doc_id FROM doc_field_crawl_point WHERE doc_field_crawl_point_id = 71") == [
        (999,)
    ]
