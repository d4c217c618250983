"""Owns: what searches keep in this process, keyed by the alias, its database, and the generation it was true in. A
generation never changes, so nothing here can be out of date; a new generation has new keys, and readers who still see
the one before it keep theirs.

Called by: the engine; the backends forget a target whose index they change.
"""

from ..operations.bounded_cache import BoundedCache

GENERATIONS = BoundedCache(2_000_000)  # pages whose facts are kept
SEARCHES = BoundedCache(2_000_000)  # pages found
ANSWER = 100  # what an answer weighs that finds nothing: measured, as much memory as a hundred pages found


def forget(alias: str) -> None:
    for kept in (GENERATIONS, SEARCHES):
        kept.forget(alias)


def let_go(alias: str, generation: int) -> None:
    """This generation is read for the first time: of the others of its target one stays, for those who still see it."""
    for kept in (GENERATIONS, SEARCHES):
        gone = set(sorted({key[2] for key in kept if key[0] == alias} - {generation})[:-1])
        kept.drop(lambda key, gone=gone: key[0] == alias and key[2] in gone)
