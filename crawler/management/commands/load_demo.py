from typing import Any

from clearinghouse import env
from clearinghouse.commands import Command as Base
from clearinghouse.commands import Stop
from crawler import demo


class Command(Base):
    help = "Makes demo people, documents and crawl points for the demo site; what is there already is kept."

    def work(self, **options: Any) -> dict[str, Any]:
        if env.production():
            raise Stop("The demo has known accounts; it is refused in production.")
        made = demo.load()
        for line in demo.sign_in_file().read_text().splitlines():
            self.say(line)
        return made | {"sign_ins": str(demo.sign_in_file())}
