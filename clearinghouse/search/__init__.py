"""Owns: the full text index of a target and the search over it: query (pure) -> backends -> engine -> screens.

Does not: write published pages, decide who serves the public (it reads the switch), touch the doc_library of
content development when the public searches. Called by: crawler.propagation (index, sample queries), the command
`search`, the public search screens.
"""
