"""Where gunicorn comes in: the web application as a WSGI server runs it."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from clearinghouse.database import aliases, sqlite_open_files

from .web.chunked_bodies import WholeBodies

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clearinghouse.settings")
_django = WholeBodies(get_wsgi_application())
aliases.serve_threads()
get_resolver().url_patterns  # noqa: B018 - loads the screens now: the first visitors would wait a third of a second for it


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    sqlite_open_files.hold()
    answer: Iterable[bytes] = _django(environ, start_response)
    return answer
