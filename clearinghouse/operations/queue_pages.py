"""Owns: who gets django-rq's pages of the work queues: superusers, nobody else; for others they do not exist (T20).

Does not: show where Redis is or how one signs in to it (the pages that would are left out), or draw anything.
Called by: clearinghouse.urls.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django_rq.urls import get_admin_urlpatterns
from redis.exceptions import RedisError

# Cron jobs are not used here; the other page prints the address of Redis.
_LEFT_OUT = ("cron_scheduler_detail", "cron_job_detail", "queue_details")


def may_see_queues(user: Any) -> bool:
    return bool(user.is_active and user.is_superuser and user.is_staff)


def _for_superusers(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not may_see_queues(request.user):
            raise Http404("No such page")
        try:
            return view(request, *args, **kwargs)
        except IndexError:
            raise Http404("No such queue") from None
        except RedisError:
            return HttpResponseRedirect(reverse("workers"))  # which says that Redis cannot be reached

    return guarded


def _to_jobs(request: HttpRequest, queue_index: int) -> HttpResponse:
    """In the place of the details of a queue: its jobs."""
    return HttpResponseRedirect(reverse("django_rq:jobs", args=[queue_index]))


def _to_home(request: HttpRequest) -> HttpResponse:
    """In the place of figures for machines, which may be asked for with a token."""
    return HttpResponseRedirect(reverse("django_rq:home"))


def _patterns() -> list[URLPattern]:
    found = [one for one in get_admin_urlpatterns(view_wrapper=_for_superusers) if one.name not in _LEFT_OUT]
    return [
        path("stats.json", _for_superusers(_to_home), name="home_json"),
        path("queues/<int:queue_index>/details/", _for_superusers(_to_jobs), name="queue_details"),
        *found,
    ]


urls = (_patterns(), "django_rq")
