"""Owns: which target answers the public, which generation a target shows, and its documents.

Does not: move the switch (crawler.propagation.switching.switch does). Called by: the engine, the screens, the command.
No question reads the doc_library of content development unless it is itself asked for.
"""

from django.db import DatabaseError

from clearinghouse.published.models import LiveGeneration, PublicSwitch, PublishedDocument

from ..database.aliases import PRIMARY, TARGETS, WEBCRAWL


def public_target() -> str:
    """The name of the target that serves the public now."""
    try:
        row = PublicSwitch.objects.using(WEBCRAWL).values_list("serving", flat=True).first()
    except DatabaseError:
        return "primary"  # without WebCrawl the public is served by its home
    return row if row in TARGETS else "primary"


def public_alias() -> str:
    return TARGETS.get(public_target(), PRIMARY)


def live_generation(alias: str) -> int:
    """The generation a target shows; 0 while it has none. A request asks once and uses it for all its queries."""
    return LiveGeneration.objects.using(alias).values_list("generation", flat=True).first() or 0


def documents_of(alias: str, generation: int) -> dict[int, tuple[str, str]]:
    """Title and project of every published document."""
    rows = PublishedDocument.objects.using(alias).filter(gen_from__lte=generation, gen_to__gt=generation)
    return {doc_id: (title, project) for doc_id, title, project in rows.values_list("doc_id", "title", "project")}
