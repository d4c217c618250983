"""Owns: what people teach the search: rules (pure) -> cache -> services. Nothing is indexed again for it.

Does not: search, or ask who may (the screens do). Called by: the public search, the screen Search curation.
"""
