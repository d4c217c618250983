"""Owns: what a page or mail with a traceback may show: names and types, never values (threat T7).

Does not: draw it. Called by: Django, with DEBUG (settings.DEFAULT_EXCEPTION_REPORTER_FILTER).
"""

from typing import Any

from django.http import HttpRequest
from django.views.debug import SafeExceptionReporterFilter

_PLAIN = (int, float, bool, type(None))


class NamesOnly(SafeExceptionReporterFilter):
    def is_active(self, request: HttpRequest | None) -> bool:
        """Django shows everything with DEBUG; a password typed into a form is somebody's, with DEBUG or without."""
        return True

    def get_safe_settings(self) -> dict[str, Any]:
        """Addresses of databases, mail and Redis carry passwords under names that do not say so."""
        return {}

    def get_post_parameters(self, request: HttpRequest | None) -> Any:
        if request is None:
            return {}
        masked = request.POST.copy()
        for name in masked:
            masked[name] = self.cleansed_substitute
        return masked

    def get_traceback_frame_variables(self, request: Any, tb_frame: Any) -> list[tuple[str, Any]]:
        return [(name, _shown(value)) for name, value in tb_frame.f_locals.items()]


def _shown(value: Any) -> Any:
    return value if isinstance(value, _PLAIN) else f"({type(value).__name__})"
