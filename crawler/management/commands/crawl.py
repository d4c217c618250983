"""manage.py crawl: a whole run in this process tree, without Redis or RQ."""

import argparse
import os
import signal
import subprocess
import sys
import time
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.db import connections

from clearinghouse.addresses import networks
from clearinghouse.database.adoption.usable import unusable_files
from clearinghouse.database.aliases import DEFAULT, WEBCRAWL
from clearinghouse.operations.command_base import FAILED, NEEDS_DECISION, WRONG_USE, Command, Stop, whole
from clearinghouse.operations.logs import about
from clearinghouse.web.plurals import plural
from crawler.engine import process_limits
from crawler.engine.finishing import finish
from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.errors import AllBusy, NothingToCrawl
from crawler.launching import control
from crawler.launching.launch import LaunchRequest, launch
from crawler.liveness import instances
from crawler.models import OPEN_STATES, Excursion, Instance, Run, State
from crawler.reasons import by_status
from crawler.runs.run_counts import tallies
from crawler.runs.run_json import run_result
from crawler.sites.speeds import SPEEDS

MOST_INSTANCES = 64  # more than any machine needs; a slip must not start thousands of processes
GOOD_ENDS = {State.FINISHED, State.FINISHED_AT_LIMIT}


class Command(Command):
    help = "Crawl documents now, in this process, and print the result."

    def options(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--doc", type=whole(1), action="append", metavar="ID", help="only this document; may be repeated"
        )
        parser.add_argument(
            "--instances", type=whole(1, MOST_INSTANCES), default=1, metavar="N", help="crawler processes (default 1)"
        )
        parser.add_argument("--speed", choices=SPEEDS, help="default: as the settings say")
        parser.add_argument(
            "--ignore-robots", action="store_true", help="do not ask robots.txt; recorded with your name"
        )
        parser.add_argument("--resume", metavar="RUN", help="go on with this run, or with the last one: --resume last")
        parser.add_argument(
            "--join", type=whole(1), metavar="RUN", help="serve as one more instance of a run of this command"
        )
        # A fresh process for a run of this command.
        parser.add_argument("--again", type=whole(1), help=argparse.SUPPRESS)

    def work(self, **options: Any) -> dict[str, Any]:
        if unusable := unusable_files(DEFAULT, WEBCRAWL):
            raise Stop(unusable)
        if options["join"] is not None:
            if self._serve(self._known(options["join"]), show=False):
                self._start_afresh()
            return {}
        run = self._run(options)
        if run.state in OPEN_STATES:
            if self._drive(run, options["instances"]):
                self._start_afresh("--again", str(run.pk))
            # Of two instances that closed their last excursions at once, each saw the other's open.
            finish.conclude(run.pk)
            run.refresh_from_db()
        result = run_result(run)
        self._report(run, result)
        return result

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        if self.failed:
            sys.exit(FAILED)

    failed = False
    arguments: tuple[str, ...] = ()  # of this process, when it is one of its own

    def _run(self, options: dict[str, Any]) -> Run:
        if options["again"] is not None:
            return self._driven(self._known(options["again"]))
        if not options["resume"]:
            return self._launched(options)
        run = self._resumed(options["resume"])
        if options["speed"] not in (None, run.speed) and run.state in OPEN_STATES:
            control.set_speed(run, options["speed"], self.person)
            run.refresh_from_db(fields=["speed"])
        return run

    def _known(self, number: int) -> Run:
        if (run := Run.objects.filter(pk=number).first()) is None:
            raise Stop(f"There is no run {number}.", WRONG_USE)
        return run

    def _launched(self, options: dict[str, Any]) -> Run:
        self.know(options["doc"])
        networks.read_settings()  # a setting that cannot be meant must not leave a run behind
        driver = instances.register(None, kind="driver")
        try:
            return launch(
                LaunchRequest(
                    options["doc"], by=self.person, speed=options["speed"] or "", driver=driver,
                    ignore_robots=options["ignore_robots"], origin="command",
                )
            )  # fmt: skip
        except NothingToCrawl as error:
            instances.retire(driver)
            raise Stop(str(error), WRONG_USE)
        except AllBusy as error:
            instances.retire(driver)
            raise Stop(f"{error} What a killed process has left goes on with --resume.", NEEDS_DECISION)

    def _resumed(self, which: str) -> Run:
        runs = (
            Run.objects.order_by("-id") if which == "last" else Run.objects.filter(pk=which if which.isdecimal() else 0)
        )
        run = runs.first()
        if run is None:
            raise Stop(f"There is no run {which} to resume.", WRONG_USE)
        if run.state in OPEN_STATES:
            if run.driver and run.driver.alive and not instances.gone(run.driver):
                raise Stop(f"Run {run.pk} is being crawled by process {run.driver.pid} on {run.driver.host}.")
            run.control = ""
            run.save(update_fields=["control"])
            Excursion.objects.filter(run=run, state=State.PAUSED).update(state=State.WAITING)
            self._driven(run)
        return run

    def _driven(self, run: Run) -> Run:
        run.driver = instances.register(None, kind="driver")
        run.save(update_fields=["driver"])
        return run

    def _drive(self, run: Run, count: int) -> bool:
        """To its end, or until this process has grown: then it is to start afresh."""
        initialize(run)
        helpers = [
            subprocess.Popen([sys.executable, str(settings.BASE_DIR / "manage.py"), "crawl", "--join", str(run.pk)])
            for _ in range(count - 1)
        ]
        try:
            return self._serve(run, show=self.plain and sys.stderr.isatty())
        finally:
            for helper in helpers:
                helper.send_signal(signal.SIGTERM)
            for helper in helpers:
                helper.wait(timeout=15)

    def run_from_argv(self, argv: list[str]) -> None:
        process_limits.step_back()
        process_limits.collect_seldom()
        self.arguments = tuple(argv)
        super().run_from_argv(argv)

    def _start_afresh(self, *more: str) -> None:
        """The same process with empty memory: who started it, and what it prints, notices nothing."""
        connections.close_all()
        os.execv(sys.executable, [sys.executable, *self.arguments, *more])

    def _serve(self, run: Run, show: bool) -> bool:
        row = run.driver if not self._joined(run) else None
        crawl = InstanceLoop(run, stay=True, row=row)
        crawl.replaceable = bool(self.arguments)
        before = {number: signal.signal(number, crawl.ask_to_stop) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            with about(run=run.pk):
                crawl.work(Progress() if show else None)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        if show:
            sys.stderr.write("\n")
        return crawl.grown and not crawl.stopping

    def _joined(self, run: Run) -> bool:
        return Instance.objects.filter(pk=run.driver_id, run=run).exists() or run.driver is None

    def _report(self, run: Run, result: dict[str, Any]) -> None:
        self.failed = run.state not in GOOD_ENDS
        skipped, failed = sum(result["skipped"].values()), sum(result["failed"].values())
        self.say(
            f"Run {run.pk} {run.get_state_display().lower()}: {plural(result['crawled'], 'page')} stored, "
            f"{result['unchanged']} unchanged, {result['redirected']} redirected, {skipped} skipped, "
            f"{failed} failed, {result['queued']} still queued; "
            f"{plural(result['bytes'], 'byte')} in {result['seconds']} s"
        )
        if skipped + failed and not result["crawled"] + result["unchanged"] + result["queued"]:
            why = by_status(result["skipped"] | result["failed"], tallies(run).codes)
            told = ", ".join(f"{count:,} × {reason.label}" for reason, count in why)
            self.say(f"Nothing was stored: {told}. Check by check: manage.py explain DOC URL")


class Progress:
    """One line on a terminal, twice a second."""

    def __init__(self) -> None:
        self._shown = 0.0

    def __call__(self, crawl: InstanceLoop) -> None:
        now = time.monotonic()
        if now - self._shown < 0.5:
            return
        self._shown = now
        outcomes = [queue.tally.outcomes for queue in crawl.queues.values()]
        done = sum(o["crawled"] + o["unchanged"] for o in outcomes)
        waiting = sum(o["queued"] for o in outcomes)
        share = done / (done + waiting) if done + waiting else 0.0
        bar = "#" * int(30 * share)
        sys.stderr.write(f"\r[{bar:<30}] {share:4.0%}  {plural(done, 'page')}, {waiting} waiting ")
        sys.stderr.flush()
