"""Owns: moving results to the three targets; the only writer of published rows and of who serves the public.

The flow: services (asked) -> scope (what is decided is pinned) -> collect (the desired generation, document by
document) -> plan (pure: what changes, is it too much) -> load (beside the live generation) -> the index of
clearinghouse.search -> verify -> switch. Every step is a row, so that a killed propagation continues from its step.
rollback goes back and forward among the generations that are there; left_out says which crawls count nowhere.
Does not: read heads (a generation is made of versions named by ledgers), run while another one does.
Called by: crawler.jobs.propagate, the commands propagate and rollback, the tick,
crawler.propagation.views.propagation_views.
"""
