from django.http import HttpRequest, HttpResponse


def csrf_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    return HttpResponse(status=403)
