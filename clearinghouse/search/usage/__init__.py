"""Owns: what the public looks for: counted (pure) -> spool -> services. Only counts are kept; nothing says who.

Does not: slow a search: a search adds one line to a file, the tick empties it. Called by: the public search, the
tick, the report Search use.
"""
