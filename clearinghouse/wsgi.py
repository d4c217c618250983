"""Where gunicorn comes in: the web application as a WSGI server runs it."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from django.core.wsgi import get_wsgi_application

from clearinghouse import databases, held_files
from clearinghouse.whole_bodies import WholeBodies

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clearinghouse.settings")
_django = WholeBodies(get_wsgi_application())
databases.serve_threads()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    held_files.hold()
    answer: Iterable[bytes] = _django(environ, start_response)
    return answer
