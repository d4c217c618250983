from typing import Any

from clearinghouse.local import redis_server
from clearinghouse.operations.command_base import Command as Base
from clearinghouse.operations.command_base import Stop


class Command(Base):
    help = "Becomes the embedded Redis server on a socket in the VAR folder (make run starts it)."

    def work(self, **options: Any) -> dict[str, Any]:
        try:
            redis_server.become()
        except redis_server.CannotServe as why:
            raise Stop(str(why)) from why
        return {}
