"""The buttons that repair an entry of the crawl point dialog with one press, and the examples under the root string."""

from typing import Any, NamedTuple

from django.http import QueryDict
from django.utils.html import format_html
from django.utils.safestring import SafeString

from clearinghouse.addresses import Address
from clearinghouse.addresses.parsing import parse

from ..point_checks import comparable_root, reaches, suggested_root
from ..typed_urls import suggested_url
from . import sign_in_views


class Repaired(NamedTuple):
    """The entries after a press of a repair button, and what could not be repaired, by field."""

    data: QueryDict
    problems: dict[str, str]
    retry_after: int = 0  # seconds, when nobody looked at the sign-in page: too many at once


def repaired(data: QueryDict, wanted: str) -> Repaired:
    data = data.copy()
    if wanted != "sign_in":  # it is tried, and never shown again
        data.pop("password", None)
    url, root, tested = (str(data.get(name, "")).strip() for name in ("url", "root", "test"))
    if wanted == "use_root":
        data["root"] = suggested_root(url) or root
    elif wanted == "use_url":
        data["url"] = suggested_url(f"https://{url}")
        data["root"] = root or suggested_root(f"https://{url}")
    elif wanted == "use_tested_root":
        data["root"] = suggested_root(tested) or root
    elif wanted == "exclude_tested" and tested:
        data["excludes"] = f"{str(data.get('excludes', '')).rstrip()}\n{tested}".lstrip()
    elif wanted == "detect":
        page = sign_in_views.fill_in(data)
        return Repaired(data, {"sign_in_url": page.problem} if page.problem else {}, page.retry_after)
    return Repaired(data, {})


def with_root(data: QueryDict) -> QueryDict:
    """An empty root string is filled in, as a script does while the entries are typed."""
    root = suggested_root(str(data.get("url", "")))
    if not root or str(data.get("root", "")).strip():
        return data
    data = data.copy()
    data["root"] = root
    return data


def buttons_of(fixes: dict[str, str], action: str) -> dict[str, SafeString]:
    """What stands under URL, root string and sign-in page."""
    made = {"sign_in_url": _detect(action)}
    if "url" in fixes:
        made["url"] = _button("use_url", f"Use {fixes['url']}")
    # Never with the folder it will use: the URL may change before it is pressed.
    made["root"] = _button("use_root", f"Use {fixes['root']}" if "root" in fixes else "Use this folder")
    return made


def _button(value: str, label: str) -> SafeString:
    return format_html('<button class="btn s" name="do" value="{}">{}</button>', value, label)


def _detect(action: str) -> SafeString:
    """With scripts it fetches its own part of the form only, so that a password that was typed stays."""
    return format_html(
        '<button class="btn s" name="do" value="detect" hx-post="{}" hx-target="#sign-in-form" '
        'hx-select="#sign-in-form" hx-select-oob="#problems" hx-swap="outerHTML">Detect the form</button>',
        action,
    )


def scope_words(url: str, root: str, merge_schemes: bool = False) -> dict[str, Any] | None:
    """Examples of what is in scope and what is not; None while the entries cannot be read."""
    address, start = parse(url.strip()), parse(root.strip())
    if not isinstance(address, Address) or not isinstance(start, Address):
        return None
    if not reaches(address.href, start.href, merge_schemes):
        return None
    base = comparable_root(root.strip())
    inside = f"{base}list.html" if base.endswith("/") else f"{base}-list.html"
    other = "http" if start.scheme == "https" else "https"
    examples = [(f"{start.origin}/{folder}/", "") for folder in ("about", "news")]
    outside = [one for one in examples if not one[0].startswith(base)][:1]
    if not merge_schemes:
        outside.append((f"{other}{base[len(start.scheme) :]}", f"{other}, not {start.scheme}"))
    return {"inside": inside, "outside": outside}
