"""Owns: runs as people see them: lists, counts, state in words, advice, comparison. Changes nothing."""
