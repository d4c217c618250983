"""manage.py prepare: creates or adopts and migrates all four databases; safe to repeat."""

from typing import Any

from django.db import Error, connections

from clearinghouse import env
from clearinghouse.database import aliases
from clearinghouse.database.adoption import prepare
from clearinghouse.database.adoption.dialects.create_table import UnreadableCreateTable
from clearinghouse.database.adoption.rows import old_results
from clearinghouse.database.adoption.usable import Unusable
from clearinghouse.operations import private_files
from clearinghouse.operations.command_base import Command as HouseCommand
from clearinghouse.operations.command_base import Stop
from clearinghouse.web.plurals import plural

ALIASES = (aliases.DEFAULT, aliases.WEBCRAWL, aliases.PRIMARY, aliases.BACKUP)
_LACKS_A_RIGHT = "42501"  # PostgreSQL's insufficient_privilege


class Command(HouseCommand):
    help = "Create or adopt and migrate all four databases; safe to repeat, and to kill at any moment."

    def work(self, **options: Any) -> dict[str, Any]:
        for sentence in private_files.close_existing(env.var()):
            self.say(sentence)
        done, failed = [], []
        for alias in ALIASES:
            try:
                done.append(prepare.prepare(alias))
            except (Unusable, old_results.TwoSetsOfResults, UnreadableCreateTable) as error:
                failed.append(str(error))
            except Error as error:
                failed.append(f"{alias}: {_sentence(alias, error)}")
            else:
                self._tell(done[-1])
        if failed:
            raise Stop("; ".join(failed))
        new = any(one.alias == aliases.WEBCRAWL and one.state == prepare.CREATED for one in done)
        old_results.start_webcrawl_above_targets(new=new)
        return {"databases": [{"alias": one.alias, "state": one.state} for one in done]}

    def _tell(self, one: prepare.Prepared) -> None:
        kept = (
            f" ({plural(len(one.tables), 'table')}, {plural(one.rows, 'row')} kept)"
            if one.state == prepare.ADOPTED
            else ""
        )
        self.say(f"{one.alias:<9} {one.state}{kept}")
        for note in one.notes:
            self.say(f"          {note}")


def _sentence(alias: str, error: BaseException) -> str:
    """What the server said. Where PostgreSQL lacks a right, to read or to change a table: who must own what, too."""
    cause: BaseException | None = error
    while cause is not None and getattr(cause, "sqlstate", "") != _LACKS_A_RIGHT:
        cause = cause.__cause__ or cause.__context__
    said = str(cause or error).strip().splitlines()[0]
    if cause is None:
        return said
    user = connections[alias].settings_dict["USER"]
    return f"{said}; let {user} own this database and its tables, or be a member of the role that does"
