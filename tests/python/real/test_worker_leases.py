"""Workers at a resequencer with a journal: work that takes longer than its lease, and a worker that dies."""
import json
import signal
import time

import pytest
from application import FAST, InThread, SESSION, request, wait_until
from resequencer import Producer, Worker


def journal(lease_ms):
    return f'dispatch.mode = "journal"\ndispatch.lease_ms = {lease_ms}\n'


def attempts(records, id="order"):
    return [record.header("reseq-attempt") for record in records if record.id == id]


@pytest.mark.parametrize("commit", ["work", "receipt"])
def test_work_that_takes_longer_than_its_lease_is_done_once(brokers, application, commit):
    shop = application(more=journal(5_000))  # a busy machine may need seconds for a heartbeat
    calls = []

    def slow(work):
        if work.id == "ready":
            return work.payload
        calls.append(work.attempt)
        time.sleep(12)
        work.check_lease()
        return work.payload

    worker = Worker(brokers, shop.name, slow, commit=commit, **FAST)
    with InThread(worker):
        request(shop, "ready")  # a lease is counted from the dispatch, and no worker has joined yet
        shop.wait_for({"ready": 1})
        with Producer(brokers, shop.name) as producer:
            producer.send("order", 1, "x", priority=7, process_at=int(time.time() * 1000), expires_at=4_000_000_000_000)
        shop.wait_for({"order": 1})
    assert calls == [1] and worker.counts.lost == 0
    commands = shop.read("commands")
    assert len([one for one in commands if one.id == "order" and one.header("reseq-command") == b"heartbeat"]) >= 5
    assert attempts(shop.read("work")) == [None]
    assert shop.read("dead-letter") == []


def test_a_worker_that_died_after_a_commit_on_receipt_loses_nothing(application, process):
    shop = application(more=journal(10_000))
    first = process(shop, commit="receipt", consumer_settings=SESSION)
    first.wait_for("assigned: ")
    with Producer(shop.brokers, shop.name) as producer:
        producer.send("order", 1, json.dumps({"takes_s": 60}))
        wait_until(first.begun, "the work")
        first.signal(signal.SIGKILL)
        assert first.ended() == -signal.SIGKILL
    second = process(shop, commit="receipt", consumer_settings=SESSION, takes_s=0)
    shop.wait_for({"order": 1})
    assert second.begun() == ["order"]
    assert attempts(shop.read("work")) == [None, b"2"]
    results = [one for one in shop.read("commands") if one.header("reseq-command") == b"sequence"]
    assert attempts(results) == [b"2", b"2"], "one for each target"
