"""Owns: reading what became of each address: lists, groups, links, the way to it, and the proof that it all adds up.

Does not: write a ledger row (engine/storage). Called by: screens, API, commands, findings.
"""
