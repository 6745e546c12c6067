"""A worker whose work has leases: heartbeats, leases that are lost, and commits on receipt. Kafka is a stand-in."""
import asyncio
import threading
import time
from contextlib import contextmanager

import pytest
from application import wait_until
from confluent_kafka import KafkaError
from resequencer import LeaseLost, Worker
from resequencer.leases import now_ms
from stand_ins import Message, Reader, Sender, use

LIMIT_S = 30


def leased(offset, length_ms=1_200, ago_ms=0):
    written = now_ms() - ago_ms
    return Message(offset, [("reseq-attempt", b"2"), ("reseq-lease-until", b"%d" % (written + length_ms))], written)


def named(sender, command):
    return [headers for headers in sender.headers if headers["reseq-command"] == command]


@contextmanager
def running(monkeypatch, function, *records, sender=None, reader=None, **options):
    """The worker, what it reads and what it sends; it ends in order."""
    reader, sender = reader or Reader(records), sender or Sender()
    use(monkeypatch, reader, sender)
    worker = Worker("nowhere", "shop", function, commit_every_s=0, stop_within_s=1, **options)
    coroutine = asyncio.iscoroutinefunction(function)
    thread = threading.Thread(target=lambda: asyncio.run(worker.run_async()) if coroutine else worker.run(),
                              daemon=True)
    thread.start()
    yield worker, reader, sender
    worker.stop()
    thread.join(LIMIT_S)
    assert not thread.is_alive()


def test_heartbeats_renew_the_lease_of_work_that_takes_long(monkeypatch):
    go_on = threading.Event()

    def slow(work):
        assert go_on.wait(LIMIT_S)
        return b"done"

    with running(monkeypatch, slow, leased(0)) as (worker, reader, sender):
        wait_until(lambda: len(named(sender, b"heartbeat")) >= 6)
        assert worker.counts.lost == 0 and reader.committed == []
        assert named(sender, b"heartbeat")[0] == {"reseq-command": b"heartbeat", "reseq-seq": b"1",
                                                  "reseq-attempt": b"2"}
        go_on.set()
        wait_until(lambda: reader.committed == [1])
        beats = len(named(sender, b"heartbeat"))
        time.sleep(1)
        assert len(named(sender, b"heartbeat")) == beats
    result, = named(sender, b"sequence")
    assert result["reseq-attempt"] == b"2"


def until_lost(work):
    """Works until it is told to stop."""
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until:
        work.check_lease()
        time.sleep(0.01)


async def until_cancelled(work):
    await asyncio.sleep(LIMIT_S)


@pytest.mark.parametrize("function", [until_lost, until_cancelled])
def test_work_is_told_that_its_lease_is_lost_and_nothing_of_it_is_sent(monkeypatch, function):
    ended = []
    if asyncio.iscoroutinefunction(function):
        async def watched(work):
            try:
                await function(work)
            finally:
                ended.append(now_ms())
    else:
        def watched(work):
            try:
                function(work)
            except LeaseLost:
                ended.append(now_ms())
                raise
    over = now_ms() + 1_200
    with running(monkeypatch, watched, leased(0), sender=Sender(b"d0")) as (worker, reader, sender):
        wait_until(lambda: ended and reader.committed)
        assert worker.counts.lost == 1 and worker.counts.failed == 0
        assert reader.committed == [1], "its lease gives it back, not the log"
    assert named(sender, b"sequence") == []
    assert ended[0] < over + 200, "before somebody else got it, less what a loaded machine takes"


def test_an_answer_is_not_sent_that_came_when_the_lease_was_lost(monkeypatch):
    def late(work):
        assert work.lease_lost.wait(LIMIT_S)
        return b"late"

    with running(monkeypatch, late, leased(0), sender=Sender(b"d0")) as (worker, reader, sender):
        wait_until(lambda: worker.counts.lost == 1 and reader.committed == [1])
        time.sleep(0.2)
    assert named(sender, b"sequence") == []


def test_what_others_have_already_is_passed_over(monkeypatch):
    begun = []
    with running(monkeypatch, lambda work: begun.append(work.offset) or b"x", leased(0, ago_ms=1_200),
                 leased(1, ago_ms=1_100), leased(2, 60_000)) as (worker, reader, _):
        wait_until(lambda: reader.committed and reader.committed[-1] == 3)
    assert begun == [2] and worker.counts.lease_over == 2


def test_work_without_a_lease_has_no_heartbeats(monkeypatch):
    with running(monkeypatch, lambda work: b"x", Message(0)) as (_, reader, sender):
        wait_until(lambda: reader.committed == [1])
    assert named(sender, b"heartbeat") == []


def test_on_receipt_the_offset_is_committed_before_the_work(monkeypatch):
    committed = []

    def function(work):
        committed.append(list(reader.committed))
        return b"x"

    reader = Reader([leased(0), leased(1)])
    with running(monkeypatch, function, reader=reader, commit="receipt") as (worker, _, sender):
        wait_until(lambda: worker.counts.results == 2)
    assert 1 in committed[0] or 2 in committed[0]
    assert len(named(sender, b"sequence")) == 2


def test_on_receipt_nothing_begins_that_could_not_be_committed(monkeypatch):
    begun = []
    reader = Reader([leased(0, 60_000)])
    reader.error = KafkaError(KafkaError.REBALANCE_IN_PROGRESS)
    with running(monkeypatch, lambda work: begun.append(1) or b"x", reader=reader, commit="receipt") as (worker, _, _s):
        wait_until(lambda: worker.counts.not_committed > 3)
        assert begun == []
        reader.error = None
        wait_until(lambda: worker.counts.results == 1)
    assert begun == [1]


def test_on_receipt_work_goes_on_when_its_partition_goes(monkeypatch):
    begun, go_on = threading.Event(), threading.Event()

    def function(work):
        begun.set()
        assert go_on.wait(LIMIT_S)
        return b"x"

    reader = Reader([leased(0, 60_000)])
    with running(monkeypatch, function, reader=reader, commit="receipt") as (worker, _, sender):
        assert begun.wait(LIMIT_S)
        worker._on_lost(None, reader.assignment())
        go_on.set()
        wait_until(lambda: worker.counts.results == 1)
    assert len(named(sender, b"sequence")) == 1


def test_on_receipt_work_without_a_lease_is_refused(monkeypatch):
    reader = Reader([Message(0)])
    use(monkeypatch, reader, Sender())
    with pytest.raises(ValueError, match="has no lease.*dispatch.mode"):
        Worker("nowhere", "shop", lambda work: b"x", commit="receipt").run()
    assert reader.committed == []


def test_on_receipt_no_more_is_held_than_is_worked_on(monkeypatch):
    go_on = threading.Event()
    records = [leased(offset, 60_000) for offset in range(10)]
    with running(monkeypatch, lambda work: b"x" if go_on.wait(LIMIT_S) else None, *records, commit="receipt",
                 parallel=2) as (worker, _, _s):
        wait_until(lambda: worker.counts.held_most == 2)
        go_on.set()
        wait_until(lambda: worker.counts.results == 10)
    assert worker.counts.held_most <= 3


def test_a_wrong_word_is_refused():
    with pytest.raises(ValueError, match="commit is one of work, receipt"):
        Worker("nowhere", "shop", lambda work: b"x", commit="later")
