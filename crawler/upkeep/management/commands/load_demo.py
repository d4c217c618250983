from typing import Any

from clearinghouse import env
from clearinghouse.operations.command_base import Command as Base
from clearinghouse.operations.command_base import Stop
from crawler.upkeep import demo_data


class Command(Base):
    help = "Makes demo people, documents and crawl points for the demo site; what is there already is kept."

    def work(self, **options: Any) -> dict[str, Any]:
        if env.production():
            raise Stop("The demo has known accounts; it is refused in production.")
        made = demo_data.load()
        for line in demo_data.sign_in_file().read_text().splitlines():
            self.say(line)
        return made | {"sign_ins": str(demo_data.sign_in_file())}
