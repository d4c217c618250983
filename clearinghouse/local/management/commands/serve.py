from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from clearinghouse import env
from clearinghouse.local import ports, serve
from clearinghouse.operations.command_base import FAILED, OK, Stop
from clearinghouse.operations.command_base import Command as Base


class Command(Base):
    help = "Prepares and starts everything on this machine (make run), until Ctrl-C."

    def options(self, parser: CommandParser) -> None:
        parser.add_argument("--procfile", type=Path, default=env.BASE / "Procfile", help="which processes to start")

    def say(self, line: str) -> None:
        super().say(line)
        self.stdout.flush()  # in order with what the processes print

    def work(self, **options: Any) -> dict[str, Any]:
        try:
            serve.check_machine()
            held = serve.only_one()
            serve.make_ready(self.say)
            code = serve.run(options["procfile"], self.say, banner)
            held.close()
        except serve.CannotStart as why:
            raise Stop(str(why)) from why
        except KeyboardInterrupt:
            raise Stop("Stopped before it had started.") from None
        if code != OK:
            raise Stop("A process ended by itself, so everything was stopped; see the lines above.", FAILED)
        return {}


def banner() -> str:
    lines = ["", f"Clearinghouse Web Crawl is ready: http://{ports.HOST}:{env.number('PORT')}/"]
    if not env.production():
        lines += [f"The demo site it may crawl:       http://{ports.HOST}:{env.number('DEMO_PORT')}/", ""]
        sign_ins = env.var() / "demo-sign-ins"
        lines += sign_ins.read_text().rstrip().splitlines() if sign_ins.exists() else []
    else:
        lines += ["The first account: manage.py createsuperuser"]
    return "\n".join([*lines, "", "Ctrl-C stops everything; the data stays.", ""])
