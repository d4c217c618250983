"""Owns: what searches keep in this process, keyed by the generation it was true in, the alias first. A generation never
changes, so nothing here can be out of date; a new generation has new keys, and readers who still see the old one keep
theirs.

Called by: the engine; the backends forget a target whose index they change.
"""

from clearinghouse.kept import Kept

GENERATIONS = Kept(2_000_000)  # pages whose facts are kept
SEARCHES = Kept(2_000_000)  # pages found


def forget(alias: str) -> None:
    for kept in (GENERATIONS, SEARCHES):
        kept.forget(alias)
