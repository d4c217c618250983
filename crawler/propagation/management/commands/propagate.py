"""manage.py propagate: the newest results to development, primary and backup, in this process."""

from argparse import ArgumentParser
from typing import Any

from clearinghouse.database.aliases import TARGETS
from clearinghouse.operations.command_base import NEEDS_DECISION, WRONG_USE, Stop, whole
from clearinghouse.operations.command_base import Command as Base
from clearinghouse.web.plurals import plural
from crawler.engine import process_limits
from crawler.errors import WrongMoment
from crawler.models import Propagation, Run
from crawler.propagation import plan, propagation_claim, services
from crawler.propagation.step_work import loss_sentence

_BUSY = "Propagation {} is {}; a second one has to wait until it is done."


class Command(Base):
    help = "Publish the newest results: load, index, verify and switch each target in turn."

    def options(self, parser: ArgumentParser) -> None:
        parser.add_argument("--target", action="append", choices=list(TARGETS), help="only this server (repeatable)")
        parser.add_argument("--full", action="store_true", help="write everything again, not only what changed")
        parser.add_argument("--include-stopped", action="store_true", help="count stopped runs too")
        parser.add_argument(
            "--run", action="append", type=whole(1), metavar="RUN", dest="runs",
            help="of the runs since the last propagation, only this one, also a stopped one (repeatable)",
        )  # fmt: skip
        parser.add_argument(
            "--accept-loss", action="append", type=whole(1), default=[], metavar="DOC",
            help="this document may lose more than 20%% of its pages (repeatable)",
        )  # fmt: skip

    def run_from_argv(self, argv: list[str]) -> None:
        process_limits.step_back()
        super().run_from_argv(argv)

    def work(self, **options: Any) -> dict[str, Any]:
        self.know(options["accept_loss"])
        self._know_runs(options["runs"])
        continued = self._continue()
        found = services.preview(options["target"], include_stopped=options["include_stopped"], runs=options["runs"])
        if found.down and len(found.down) == len(found.down) + len(found.targets):
            raise Stop(f"{' and '.join(found.down)} did not answer; nothing was changed.")
        if found.empty and not found.down and not options["full"]:
            return self._report(services.result(continued) if continued else services.nothing(found))
        losses = [row for row in found.losses if row["doc_id"] not in options["accept_loss"]]
        if losses:
            raise Stop(loss_sentence(losses), NEEDS_DECISION)
        row = self._ask(options)
        return self._finished(services.carry_out(row.pk, collector=found.collector))

    def _know_runs(self, asked: list[int] | None) -> None:
        if unknown := sorted(
            set(asked or ()) - set(Run.objects.filter(pk__in=asked or ()).values_list("pk", flat=True))
        ):
            raise Stop(f"There is no run {unknown[0]}.", WRONG_USE)

    def _ask(self, options: dict[str, Any]) -> Propagation:
        try:
            return services.ask(
                targets=options["target"],
                full=options["full"],
                include_stopped=options["include_stopped"],
                runs=options["runs"],
                accepted_losses=options["accept_loss"],
                by=self.person,
            )
        except WrongMoment as problem:
            raise Stop(str(problem)) from problem

    def _continue(self) -> Propagation | None:
        """A killed, failed or paused propagation goes on from its step before anything new is looked at."""
        row = services.unfinished()
        if row is not None and propagation_claim.held_by_another():
            raise Stop(_BUSY.format(row.pk, row.state))
        if row is not None and row.state == services.PAUSED:
            services.resume(row, by=self.person)
        if row is None:
            newest = Propagation.objects.order_by("-id").first()
            if newest is None or newest.state != services.FAILED or services.losses_of(newest):
                return None
            row = newest if services.retry(newest, by=self.person) else None
        if row is None:
            return None
        self.say(f"Continuing propagation {row.pk}.")
        row = services.carry_out(row.pk)
        if not services.losses_of(row):
            self._finished(row)
        return row if row.state == services.DONE else None

    def _finished(self, row: Propagation) -> dict[str, Any]:
        losses = services.losses_of(row)
        if losses:
            raise Stop(row.error, NEEDS_DECISION)
        if row.state in services.AT_WORK:  # another process was faster
            raise Stop(_BUSY.format(row.pk, row.state))
        if row.state != services.DONE:
            raise Stop(f"Propagation {row.pk} failed: {row.error}")
        report = self._report(services.result(row))
        counted = row.steps.filter(name=plan.PLAN).values_list("counts__targets__development__not_public", flat=True)
        if hidden := (counted.first() or {}).get("pages"):
            self.say(f"{plural(hidden, 'page')} of documents that are not public: on content development only")
        return report

    def _report(self, result: dict[str, Any]) -> dict[str, Any]:
        self.say(f"Generation {result['generation']}")
        for target in result["targets"]:
            self.say(
                f"{target['name']}: {plural(target['pages'], 'page')}, {target['added']} added, "
                f"{target['changed']} changed, {target['removed']} removed, {target['seconds']:.1f} s"
            )
        return result
