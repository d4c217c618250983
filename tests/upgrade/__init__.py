"""What each released version left behind: the digests of its migrations, and a database of it in text.

`python -m tests.upgrade.record` writes tests/upgrade/released/VERSION.json for the version this tree is, which is done
once, at its release. tests/house/test_migrations.py holds the files to it, test_released.py upgrades the database.
"""
