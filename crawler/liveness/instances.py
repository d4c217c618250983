"""Owns: which processes live. Does not: crawl. Called by: instance, tick, the command crawl.

A process has one row with a beat that its own loop raises (never a thread: a thread would go on beating in a
process that hangs). Another that sees the same beat for twenty seconds of its own clock, or knows that the process
is gone, declares it dead; the dead one's next commit finds `alive = 0` and writes nothing.
"""

import os
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models import F
from django.utils import timezone

from clearinghouse.database.aliases import WEBCRAWL
from clearinghouse.web.plurals import plural

from ..errors import Fenced
from ..models import OPEN_STATES, ActiveQueue, Event, Excursion, Instance, Run, State

BEAT_SECONDS = 3.0
SILENCE_SECONDS = 20.0
PULSE_SECONDS = 1.0
INTERRUPTED = "interrupted"  # the kind of the events that tell of a death: one of the run, one of each document


def _boot() -> str:
    path = Path("/proc/sys/kernel/random/boot_id")
    return path.read_text().strip() if path.exists() else ""


def _namespace() -> str:
    path = Path("/proc/self/ns/pid")
    return str(path.stat().st_ino) if path.exists() else ""


def _started(pid: int) -> int:
    """The kernel's start time of a process (clock ticks after boot); 0 when there is no such process."""
    fields = _stat(pid)
    return 0 if not fields or fields[0] in "ZX" else int(fields[19])  # dead, but not yet reaped by its parent


def _stat(pid: int) -> list[str]:
    """What the kernel says of a process, from its state on; nothing when there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def register(run_id: int | None, kind: str = "crawl") -> Instance:
    """A row for this process."""
    now = timezone.now()
    return Instance.objects.create(
        run_id=run_id, kind=kind, host=socket.gethostname(), boot=_boot(), namespace=_namespace(), pid=os.getpid(),
        pid_started=_started(os.getpid()), started_at=now, seen_at=now,
    )  # fmt: skip


def assign(instance: Instance, run_id: int) -> Instance:
    """The driver of a run becomes its first instance."""
    Instance.objects.filter(pk=instance.pk).update(run_id=run_id)
    instance.refresh_from_db()
    return instance


def fence(instance: Instance) -> None:
    """The first statement of every commit: raises Fenced unless this instance is still alive."""
    changed = Instance.objects.filter(pk=instance.pk, alive=True).update(beat=F("beat") + 1, seen_at=timezone.now())
    if changed != 1:
        raise Fenced(f"instance {instance.pk} was declared dead")


class Pulse:
    """The beat of a step that may take longer than others wait: beat() often, it writes once a second at most."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._at = time.monotonic()

    def beat(self) -> None:
        if time.monotonic() - self._at >= PULSE_SECONDS:
            with transaction.atomic(using=WEBCRAWL):
                fence(self._instance)
            self._at = time.monotonic()


def tell(instance: Instance, fetching: dict[str, Any]) -> None:
    """What this process fetches now, for screens."""
    if fetching != instance.fetching:
        instance.fetching = fetching
        Instance.objects.filter(pk=instance.pk).update(fetching=fetching)


def retire(instance: Instance) -> None:
    """An orderly end: the queues go back, the row stays for the reports."""
    with transaction.atomic(using=WEBCRAWL):
        Instance.objects.filter(pk=instance.pk).update(alive=False, seen_at=timezone.now())
        _free_queues(instance.pk, State.WAITING)


def gone(instance: Instance) -> bool:
    """Whether this process is provably gone: it ran here (same boot, same process namespace) and runs no more."""
    return _ran_here(instance) and _started(instance.pid) != instance.pid_started


def _ran_here(instance: Instance) -> bool:
    return (instance.boot, instance.namespace) == (_boot(), _namespace()) and bool(instance.boot)


def end_stopped(own_id: int | None = None) -> list[Instance]:
    """Kill processes of this host that are stopped (SIGSTOP); called when nobody could write for as long as a writer
    waits: one that stopped in a transaction holds the lock of an SQLite file for ever, and is dead to the others."""
    ended = []
    for instance in Instance.objects.filter(alive=True).exclude(pk=own_id or 0):
        stopped = _ran_here(instance) and not gone(instance) and _stat(instance.pid)[:1] == ["T"]
        if stopped:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(instance.pid, signal.SIGKILL)
                ended.append(instance)
    return ended


def end(instance: Instance) -> bool:
    """Kill the process of an instance that was declared dead and still runs on this host: it may write nothing more,
    and whoever waits for its end would wait for ever. False when it is gone, or another host's."""
    if not _ran_here(instance) or gone(instance):
        return False
    with suppress(ProcessLookupError, PermissionError):
        os.kill(instance.pid, signal.SIGKILL)
        return True
    return False


class Watch:
    """One process's memory of the beats of the others."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[int, float]] = {}

    def declare_silent_dead(self, own_id: int | None = None) -> list[Instance]:
        """Declare dead whoever is gone or silent for too long, and free their queues."""
        now = time.monotonic()
        declared_dead = []
        living = list(Instance.objects.filter(alive=True).exclude(pk=own_id or 0))
        for instance in living:
            beat, since = self._seen.get(instance.pk, (-1, now))
            if beat != instance.beat:
                self._seen[instance.pk] = (instance.beat, now)
                since = now
            if (gone(instance) or now - since >= SILENCE_SECONDS) and declare_dead(instance):
                declared_dead.append(instance)
        self._seen = {i.pk: self._seen[i.pk] for i in living if i.pk in self._seen}
        return declared_dead

    def forgive(self, refusal: Exception | None = None, own_id: int | None = None) -> None:
        """Silence in which the database refused writes does not count; who keeps it locked in its sleep is ended."""
        now = time.monotonic()
        self._seen = {pk: (beat, now) for pk, (beat, _) in self._seen.items()}
        if refusal is not None and "locked" in str(refusal):
            with suppress(DatabaseError):
                end_stopped(own_id)


def declare_dead(instance: Instance) -> bool:
    """Take over from a dead instance; False when another was faster or it moved after all."""
    with transaction.atomic(using=WEBCRAWL):
        rows = Instance.objects.filter(pk=instance.pk, alive=True)
        if not gone(instance):
            rows = rows.filter(beat=instance.beat)
        if rows.update(alive=False) != 1:
            return False
        _note_death(instance)
        _free_queues(instance.pk, State.INTERRUPTED)
    return True


def _note_death(instance: Instance) -> None:
    """In the log of its run: who died, and in the log of each document it served, that others go on with it."""
    if not Run.objects.filter(pk=instance.run_id or 0, state__in=OPEN_STATES).exists():
        return
    rows = Excursion.objects.filter(claim__instance_id=instance.pk).order_by("id")
    served = list(rows.values_list("doc_id", "title"))
    who = f"Process {instance.pid} on {instance.host[:100]} (instance {instance.pk}) died"
    left = {0: "it served no document", 1: "its document is taken over"}
    several = f"its {plural(len(served), 'document')} are taken over"
    sentence = f"{who}; {left.get(len(served), several)}"
    told = [(None, sentence), *((doc_id, f"{title[:200]}: taken over. {who}") for doc_id, title in served)]
    Event.objects.bulk_create(
        Event(run_id=instance.run_id, doc_id=doc_id, at=timezone.now(), kind=INTERRUPTED, text=text)
        for doc_id, text in told
    )


def _free_queues(instance_id: int, state: State) -> None:
    served = ActiveQueue.objects.filter(instance_id=instance_id)
    Excursion.objects.filter(claim__instance_id=instance_id, state=State.RUNNING).update(state=state)
    served.delete()
