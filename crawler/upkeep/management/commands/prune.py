"""manage.py prune [--dry-run]: remove what is older than CLEARINGHOUSE_KEEP says."""

from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from clearinghouse.operations import retention
from clearinghouse.operations.command_base import Command
from clearinghouse.web.plurals import plural
from crawler.upkeep import pruning

_LISTED = 20
_NAMES = {"excursions": "crawls of documents", "addresses": "addresses in their ledgers", "versions": "page versions",
          "bodies": "page bodies", "log": "lines of run logs", "notices": "notices", "previews": "previews",
          "searches": "counts of searches"}  # fmt: skip


class Command(Command):
    help = "Remove old results, logs, notices, previews and search counts; never what is shown or still needed."

    def options(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="say what would go, and change nothing")

    def work(self, **options: Any) -> dict[str, Any]:
        now = timezone.now()
        kept = {kind: retention.days(kind) for kind in retention.KINDS}
        told = ", ".join(f"{kind} {plural(days, 'day') if days else 'for ever'}" for kind, days in kept.items())
        self.say(f"Kept: {told}; the newest {plural(retention.newest_kept(), 'crawl')} of each document in any case.")
        if options["dry_run"]:
            found, old = pruning.preview(now)
            for one in old[:_LISTED]:
                addresses = plural(one.addresses, "address,addresses")
                self.say(f"Would go: {one.title}: its crawl in run {one.run_id} ({addresses})")
            if len(old) > _LISTED:
                self.say(f"… and {len(old) - _LISTED} more")
        else:
            found = pruning.prune(now, say=lambda line: self.say(f"Gone: {line}"))
        counts = found.as_json()
        some = [f"{counts[name]:,} {word}" for name, word in _NAMES.items() if counts[name]]
        self.say(f"{'Would remove' if options['dry_run'] else 'Removed'}: {', '.join(some) or 'nothing'}.")
        if found.interrupted:
            self.say("A propagation has begun; the rest is removed the next time.")
        return {"dry_run": options["dry_run"], "kept_days": kept} | counts
