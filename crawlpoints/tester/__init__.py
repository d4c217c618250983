"""Owns: the answer to "Would this address be crawled?" as people read it. Does not: decide (crawler/ledger/explain)."""
