"""Who is taken for dead, and who not: a rival's memory of the beats of the others (design rule 7)."""

import os

import pytest

from crawler.engine import message_queue
from crawler.engine.initializer import initialize
from crawler.launching.launch import LaunchRequest, launch
from crawler.liveness import instances
from crawler.liveness.instances import Watch, declare_dead, register
from crawler.models import ActiveQueue, Excursion, Instance, State
from tests.crawler.clock import Clock, stopped
from tests.crawler.conftest import make_document
from tests.proves import proves

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return stopped(instances, monkeypatch)


def beats(instance: Instance) -> None:
    instances.fence(instance)


@proves("rule 7")
def test_the_same_beat_for_twenty_seconds_is_death(clock: Clock) -> None:
    instance, watch = register(None), Watch()
    assert watch.declare_silent_dead() == []
    clock.now += instances.SILENCE_SECONDS - 0.1
    assert watch.declare_silent_dead() == []
    clock.now += 0.2
    assert [one.pk for one in watch.declare_silent_dead()] == [instance.pk]
    instance.refresh_from_db()
    assert not instance.alive
    assert instances.SILENCE_SECONDS == 20 > 3 * instances.BEAT_SECONDS


def test_who_beats_lives_however_long(clock: Clock) -> None:
    instance, watch = register(None), Watch()
    for _ in range(20):
        assert watch.declare_silent_dead() == []
        clock.now += instances.SILENCE_SECONDS - 1
        beats(instance)


@proves("rule 7")
def test_silence_of_the_database_is_nobodys_death(clock: Clock) -> None:
    register(None)
    watch = Watch()
    watch.declare_silent_dead()
    clock.now += 3 * instances.SILENCE_SECONDS
    watch.forgive()
    assert watch.declare_silent_dead() == []


@proves("rule 7")
def test_who_moves_at_the_last_moment_is_not_buried() -> None:
    instance = register(None)
    seen = Instance.objects.get(pk=instance.pk)
    beats(instance)
    assert not declare_dead(seen), "the beat is not the one that was seen"
    instance.refresh_from_db()
    assert instance.alive


def test_whose_process_is_gone_is_buried_at_once_whatever_its_beat() -> None:
    instance = register(None)
    Instance.objects.filter(pk=instance.pk).update(pid_started=1)
    seen = Instance.objects.get(pk=instance.pk)
    beats(instance)
    assert declare_dead(seen)


@pytest.mark.parametrize("changed", [{"boot": "another"}, {"namespace": "another"}, {"boot": ""}])
def test_of_a_process_elsewhere_nobody_knows_that_it_is_gone(changed: dict[str, str]) -> None:
    instance = register(None)
    Instance.objects.filter(pk=instance.pk).update(pid=os.getpid(), pid_started=1, **changed)
    assert Watch().declare_silent_dead() == []


@proves("rule 7", "A1")
def test_what_the_dead_served_waits_for_an_heir() -> None:
    run = launch(LaunchRequest([make_document({"url": "http://127.0.0.1:1/"}).pk], by="test", speed="fast"))
    initialize(run)
    instance = register(run.pk)
    assert len(message_queue.claim(instance, 9)) == 1
    assert declare_dead(Instance.objects.get(pk=instance.pk))
    assert not declare_dead(Instance.objects.get(pk=instance.pk)), "once"
    assert not ActiveQueue.objects.exists()
    assert Excursion.objects.get(run=run).state == State.INTERRUPTED
    assert len(message_queue.claim(register(run.pk), 9)) == 1
