"""Owns: the pages on which documents are added, imported and edited. Does not: list them (the Document Navigator)."""
