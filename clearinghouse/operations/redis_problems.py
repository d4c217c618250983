"""Owns: what a Redis that answers badly lacks, in one sentence, and taking away entries of ours of a wrong type.

Does not: wait (workers), or judge what a job is. Redis holds jobs only: the tick adds again whatever is removed,
because the rows say what is to be done. Called by: workers, queues.
"""

import logging
import re

from redis import Redis
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
)
from redis.exceptions import ConnectionError as RedisGone
from redis.exceptions import TimeoutError as RedisSilent

NO_ANSWER = "Redis does not answer"
A_COPY = "Redis is a read-only copy of another server: make it the main one again, or name that one"

# The word that begins an answer for which redis-py has no class.
_WORDS = {
    "MISCONF": "Redis cannot save its data, so it accepts nothing: check whether its disk is full",
    "UNBLOCKED": A_COPY,  # said to those who waited in it as it became one
    "MASTERDOWN": "Redis is a copy of a server that it cannot reach",
    "NOAUTH": "Redis wants a password: put it into CLEARINGHOUSE_REDIS_URL",
    "WRONGTYPE": "an entry of Redis is of a wrong type",
    "LOADING": "Redis reads its data",
    "BUSY": "Redis is busy with a script",
}
_NAMED = re.compile(rf"\b({'|'.join(_WORDS)})\b")
_KINDS: list[tuple[type[Exception], str]] = [
    (BusyLoadingError, _WORDS["LOADING"]),
    (AuthenticationError, "Redis refuses the name or password in CLEARINGHOUSE_REDIS_URL"),
    (AuthorizationError, "Redis does not allow its user what is needed"),
    (NoPermissionError, "Redis does not allow its user what is needed"),
    (ReadOnlyError, A_COPY),
    (OutOfMemoryError, "Redis has no memory left: raise its maxmemory"),
    (RedisSilent, NO_ANSWER),
    (RedisGone, NO_ANSWER),
    (OSError, NO_ANSWER),
]

# What RQ keeps under which name. A key of another name is not ours to judge.
_TYPES = [
    (re.compile(rb"rq:(queues|workers|groups)|rq:workers:.*"), b"set"),
    (re.compile(rb"rq:queue:.*"), b"list"),
    (re.compile(rb"rq:(job|worker|execution):.*"), b"hash"),
    (re.compile(rb"rq:(wip|finished|failed|deferred|scheduled|canceled|executions):.*"), b"zset"),
    (re.compile(rb"rq:(suspended|clean_registries:.*)"), b"string"),
]
_PROBE = "clearinghouse:probe"

log = logging.getLogger(__name__)


def sentence(error: BaseException) -> str:
    """What is wrong with Redis and what to do, without a full stop. Never an address: it may hold a password."""
    named = _NAMED.search(str(error))  # inside a pipeline the command stands before it
    if named:
        return _WORDS[named.group()]
    known = next((told for kind, told in _KINDS if isinstance(error, kind)), "")
    return known or f"Redis refuses what is asked ({' '.join(str(error).split())[:200]})"


def is_wrong_type(error: BaseException) -> bool:
    return "WRONGTYPE" in str(error)


def remove_wrong_types(connection: Redis) -> list[str]:
    """Delete the entries under RQ's names that are not of RQ's kinds: a file of another program, or a damaged one.

    Their names and kinds, as text. Raises RedisError as every word to Redis may.
    """
    removed = []
    for key in connection.scan_iter("rq:*", count=500):
        wanted = next((kind for names, kind in _TYPES if names.fullmatch(key)), None)
        found = connection.type(key) if wanted else None
        if found not in (wanted, b"none"):
            connection.delete(key)
            removed.append(f"{key.decode('utf-8', 'replace')} ({bytes(found or b'').decode()})")
    if removed:
        log.warning("Removed entries of a wrong type from Redis: %s", ", ".join(removed))
    return removed


def why_nothing_is_taken(connection: Redis) -> str:
    """Empty when a wake-up could be written now; else the sentence. A server that answers may refuse to be written."""
    try:
        connection.set(_PROBE, 1, px=1)
    except (RedisError, OSError) as error:
        return sentence(error)
    return ""
