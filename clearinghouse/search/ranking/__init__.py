"""Owns: what is shown of the pages that were found, and in which order: candidates, folding, snippets, words near a
word.

Pure but for spelling. Called by: the engine.
"""
