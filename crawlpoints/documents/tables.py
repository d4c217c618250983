"""How rows of documents and crawl points look: django-tables2 with the template of the house."""

from typing import Any
from urllib.parse import urlencode

import django_tables2 as tables
from django.urls import reverse
from django.utils.html import format_html, format_html_join, strip_tags
from django.utils.safestring import SafeString, mark_safe

from clearinghouse.web.templatetags.formats import (
    NEVER,
    NOTHING,
    ago,
    count_link,
    number,
    plural,
    short_root,
    spark,
    state,
    url_parts,
    when_row,
)

from ..models import AuthType

NUMBER = {"class": "num"}
# Words of the column Authentication; the dialog has the longer ones.
AUTHENTICATION = {AuthType.NTLM: "NTLM"}
QUIET_STATES = {"finished"}
LINE = mark_safe("<br>")


def of_run(run_id: int, tab: str, **query: Any) -> str:
    return f"{reverse('run-tab', args=[run_id, tab])}?{urlencode(query)}"


def in_words_sorted(table: tables.Table) -> str:
    """For captions: what a person who does not see the arrows should know."""
    columns = (column for column in table.columns if column.is_ordered)
    words = [
        f"{strip_tags(column.header)}, {'descending' if column.order_by_alias.is_descending else 'ascending'}"
        for column in columns
    ]
    return f"sorted by {', '.join(words)}"


class Pick(tables.Column):
    """The first column: a radio button or check box with the row's name as its label."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(empty_values=(), orderable=False, attrs={"th": {"class": "pick"}, "td": self._cell()})
        self.kind, self.field_name = kind, name
        self.ids: list[int] = []  # of the rows that can be ticked together

    @staticmethod
    def _cell() -> dict[str, Any]:
        return {"class": "pick", "data-th": None}

    @property
    def header(self) -> SafeString:
        """Of check boxes one for all rows of the page; it brings their numbers along, so that it needs no script."""
        if not self.ids:
            return mark_safe('<span class="vh">Select</span>')
        words = "Select all" if len(self.ids) == 1 else f"Select all {number(len(self.ids))} on this page"
        ids = ",".join(map(str, self.ids))
        return format_html('<input type="checkbox" name="page" value="{}" aria-label="{}">', ids, words)

    def render(self, record: Any) -> SafeString:
        if not getattr(record, "edit_url", record):
            return mark_safe("")
        return format_html(
            '<input type="{}" name="{}" value="{}" aria-label="Select {}"{}{}>',
            self.kind,
            self.field_name,
            record.id,
            record.name,
            mark_safe(" checked") if record.selected else "",
            mark_safe(" autofocus") if record.focused else "",
        )


class Ordered(tables.data.TableListData):
    """Rows that the database has put in order already; the columns only say which order that is."""

    def order_by(self, aliases: Any) -> None:
        """As they came."""


class DocumentTable(tables.Table):
    """Rows are navigator.DocumentRow."""

    pick = Pick("radio", "document")
    title = tables.Column(
        "Document", order_by="title_key", attrs={"td": {"scope": "row", "data-th": None, "class": "wrap what"}}
    )
    project = tables.Column("Project", empty_values=())
    assigned = tables.Column(mark_safe("Assigned<br> to"), empty_values=(), attrs={"td": {"class": "muted"}})
    points = tables.Column(
        mark_safe("Crawl<br> points"), order_by="points_key", empty_values=(), attrs={"th": NUMBER, "td": NUMBER}
    )
    last = tables.Column("Last crawl", order_by="last_key", empty_values=(), attrs={"td": {"class": "nowrap"}})
    pages = tables.Column("Pages", order_by="pages_key", empty_values=(), attrs={"th": NUMBER, "td": NUMBER})
    errors = tables.Column("Errors", order_by="errors_key", empty_values=(), attrs={"th": NUMBER, "td": NUMBER})
    trend = tables.Column("Trend", orderable=False, empty_values=(), attrs={"th": NUMBER, "td": {"class": "fit num"}})

    class Meta:
        template_name = "web/table.html"
        order_by = "title"
        row_attrs = {"id": lambda record: f"d{record.id}", "class": None}

    def render_title(self, record: Any) -> SafeString:
        return format_html('<a href="{}">{}</a>', reverse("document", args=[record.id]), record.title)

    def render_project(self, record: Any) -> str | SafeString:
        return record.project or NOTHING

    def render_assigned(self, record: Any) -> str | SafeString:
        return record.assigned or NOTHING

    def render_points(self, record: Any) -> SafeString:
        text = f"{number(record.active)} of {number(record.all)}" if record.all else "none"
        return format_html('<a class="n" href="{}">{}</a>', reverse("crawl-points", args=[record.id]), text)

    def render_last(self, record: Any) -> SafeString:
        if record.last is None:
            return NEVER
        last = record.last
        parts = [state(last.since)] if last.since else []  # a newer crawl that counts nowhere, before the one that does
        parts.append(when_row(last.at))
        parts += [] if last.state in QUIET_STATES else [state(last.state)]
        return format_html_join(LINE, "{}", ((part,) for part in parts))

    def render_pages(self, record: Any) -> SafeString:
        last = record.last
        if last is None:
            return NOTHING
        return count_link(last.pages, of_run(last.run_id, "pages", doc=record.id) if record.runs_seen else "")

    def render_errors(self, record: Any) -> SafeString:
        last = record.last
        if last is None:
            return NOTHING
        door = of_run(last.run_id, "errors", doc=record.id) if record.runs_seen else ""
        return count_link(last.errors, door, bad=True)

    def render_trend(self, record: Any) -> SafeString:
        return spark(record.trend)


class PointTable(tables.Table):
    """Rows are panel.PointRow."""

    pick = Pick("checkbox", "point")
    url = tables.Column("URL", attrs={"td": {"scope": "row", "data-th": None}})
    root = tables.Column("Root string")
    depth = tables.Column(mark_safe("Depth<br> limit"), attrs={"th": NUMBER, "td": NUMBER})
    max_pages = tables.Column(
        mark_safe("Maximum<br> pages"), order_by="max_pages_key", empty_values=(), attrs={"th": NUMBER, "td": NUMBER}
    )
    auth_type = tables.Column("Authentication", empty_values=(), attrs={"td": {"class": "nowrap"}})
    state = tables.Column("Status", attrs={"td": {"data-th": None}})
    last = tables.Column("Last crawl", order_by="pages_key", empty_values=(), attrs={"td": {"class": "nowrap"}})
    trend = tables.Column("Trend", orderable=False, empty_values=(), attrs={"th": NUMBER, "td": {"class": "fit num"}})

    class Meta:
        template_name = "web/table.html"
        order_by = "url"
        row_attrs = {"id": lambda record: f"p{record.id}", "class": None}

    def __init__(self, *args: Any, may_edit: bool = True, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        ids = [row.id for row in self.data if row.edit_url]
        self.tickable, self.columns["pick"].column.ids = len(ids), ids
        if not may_edit:
            self.columns.hide("pick")

    def render_url(self, record: Any) -> SafeString:
        if not record.edit_url:
            return format_html('<span class="url">{}</span>', url_parts(record.url))
        return format_html(
            '<a class="url" href="{}" hx-get="{}" hx-target="#dialog">{}</a>',
            record.edit_url,
            record.edit_url,
            url_parts(record.url),
        )

    def render_root(self, record: Any) -> SafeString:
        return short_root(record.root, record.url)

    def render_max_pages(self, record: Any) -> SafeString | str:
        return number(record.max_pages) if record.max_pages else mark_safe('<span class="zero">No limit</span>')

    def render_auth_type(self, record: Any) -> SafeString | str:
        if not record.auth_type:
            return mark_safe('<span class="zero">None</span>')
        return AUTHENTICATION.get(record.auth_type) or AuthType(record.auth_type).label

    def render_state(self, value: str) -> SafeString:
        return state(value)

    def render_last(self, record: Any) -> SafeString:
        crawls = record.crawls
        if crawls is None:
            return NEVER
        query = {"doc": record.document_id, "point": record.id}
        listed = crawls.listed if record.runs_seen else frozenset()
        doors = {tab: of_run(crawls.last["run_id"], tab, **query) for tab in listed}
        pages = count_link(crawls.pages, doors.get("pages", ""), "page")
        errors = count_link(crawls.errors, doors.get("errors", ""), "error", bad=True)
        if crawls.failing_runs > 1:
            why = f": {record.why}" if record.why else ""  # of the newest of them
            remark: str | SafeString = f"failed in {plural(crawls.failing_runs, 'run')}{why}"
        elif record.why:
            remark = format_html("{}, {}", record.why, ago(crawls.last["finished_at"]))
        else:
            remark = ago(crawls.last["finished_at"])
        return format_html('{}, {}<span class="sub">{}</span>', pages, errors, remark)

    def render_trend(self, record: Any) -> SafeString:
        return spark(record.crawls.trend if record.crawls else None)


class AcrossTable(PointTable):
    """The same rows, of many documents."""

    document = tables.Column("Document", accessor="title")

    class Meta(PointTable.Meta):
        sequence = ("pick", "url", "document", "...")
        exclude = ("trend", "auth_type")

    def __init__(self, rows: list[Any], **kwargs: Any) -> None:
        super().__init__(Ordered(rows), **kwargs)
        self.columns["last"].column.orderable = False

    def render_url(self, record: Any) -> SafeString:
        """Narrower than the panel's: how the site asks for a password stands below, where it does."""
        name = AUTHENTICATION.get(record.auth_type) or AuthType(record.auth_type).label if record.auth_type else ""
        below = format_html('<span class="sub">{}</span>', name) if name else ""
        return format_html("{}{}", super().render_url(record), below)

    def render_document(self, record: Any) -> SafeString:
        return format_html('<a href="{}">{}</a>', reverse("crawl-points", args=[record.document_id]), record.title)
