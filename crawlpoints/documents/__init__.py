"""Owns: the Document Navigator and the pages of one document: runs, stored pages, notes, history, saved views."""
