"""Owns: the texts by which rows are told apart although SQL Server may take "Ann" and "ann " for the same, and why.

Its usual collations heed neither case nor blanks at the end. What must be told apart letter by letter is found by a
digest in binary(32), or has a binary collation (clearinghouse.columns: ExactCharField, Exact) and is in neither list.
Called by: plugin (texts that are compared, grouped or made distinct), test_tables (texts that are unique).
"""

_OURS = "words of ours"
_DJANGO = "Django's own words, in small letters"
_HEX = "hexadecimal digits of a SHA-256"
_NAMES = "names that people chose, and mean without their case"
_KEYED = "beside the key of its row, in a GROUP BY or DISTINCT of whole rows"
_LOOKED_FOR = "what a person typed is looked for, without its case everywhere"
_EMPTY = "only whether there is any"
COMPARED = {
    _OURS: """
        clearinghouse_audit.action clearinghouse_audit.kind clearinghouse_import.state clearinghouse_option.name
        clearinghouse_person.role clearinghouse_saved_view.screen crawl_request.state diagnosis.advice
        doc_status.name_str excursion.control excursion.part excursion.state fault.process field_type.name_str
        finding.rule finding.state
        instance.kind ledger.outcome ledger.reason notice.key notice_delivery.mail notice_mark.name notice_wish.event
        page_version.flags propagation.state propagation_forecast.target propagation_step.name
        propagation_step.state propagation_step.target
        public_switch.serving run.control run.origin run.state run_event.kind search_rule.kind task_claim.task
        webhook_call.state excursion.tallies""",
    _DJANGO: "django_content_type.app_label django_content_type.model",
    _HEX: """
        clearinghouse_api_key.digest clearinghouse_recent_event.key crawl_point.point_key
        doc_crawl_exclude_url.exclude_key""",
    "small letters and digits": "clearinghouse_session.session_key django_admin_log.object_id",
    "host names, in small letters": "host_figure.host instance.host host.origin",
    "words in small letters, without blanks at the end": "search_use.query",
    _NAMES: """
        auth_user.username auth_user.email clearinghouse_audit.actor clearinghouse_project.name
        clearinghouse_saved_view.name preview.asked_by published_document.project run.label run.requested_by
        task_claim.person""",
    _KEYED: """
        auth_user.first_name auth_user.last_name auth_user.password clearinghouse_person.rows
        clearinghouse_project.update_nm instance.boot instance.fetching instance.namespace""",
    _LOOKED_FOR: """
        clearinghouse_document.title crawl_point.crawl_point_url excursion.error excursion.title fault.sentence
        fault.trace page_version.title run_event.text message.url""",
    _EMPTY: "crawl_point.note run.note ledger.redirect_url",
    "whether it is sealed, by how it begins": "crawl_point.crawl_pw_str",
    "looked for without case; what a folder is is told by Exact": "ledger.url page_version.url",
    "a folder's documents are only narrowed by it; what a folder is is told by Exact": "folder_figure.folder",
    "where slashes stand, and what a person typed": "crawl_point.root_str",
    "a pattern in two cases would count the addresses of both": "ledger.detail",
    "beside the digest of all three": "error_group.pattern error_group.reason error_group.site",
}
UNIQUE = {
    _OURS: """
        clearinghouse_option.name clearinghouse_saved_view.screen excursion.strand finding.rule finding.subject
        notice.key notice_mark.name notice_wish.event propagation_forecast.target task_claim.task""",
    _DJANGO: """
        auth_permission.codename django_content_type.app_label django_content_type.model""",
    _HEX: "clearinghouse_api_key.digest crawl_point.point_key doc_crawl_exclude_url.exclude_key",
    "small letters and digits": "clearinghouse_session.session_key",
    "host names, in small letters": "host_figure.host",
    _NAMES: "auth_group.name clearinghouse_saved_view.name",
    "nobody should sign in as Ann beside ann": "auth_user.username",
    "compared letter by letter: its own collation": "lexicon.word",
}


def columns(reasons: dict[str, str]) -> set[str]:
    return {name for names in reasons.values() for name in names.split()}
