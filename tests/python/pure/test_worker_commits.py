"""When a worker commits. A broker acknowledges within milliseconds, so the client that acknowledges when the test wants
it is a stand-in here."""
import threading
import time

import pytest
import resequencer.worker
from application import wait_until
from confluent_kafka import KafkaError
from stand_ins import Message, Reader, Sender, use

LIMIT_S = 10


@pytest.fixture
def clients(monkeypatch):
    reader, sender = Reader([Message(offset) for offset in range(3)]), Sender(b"d1")
    use(monkeypatch, reader, sender)
    return reader, sender


def test_nothing_is_committed_whose_results_are_not_in_the_log(clients):
    reader, sender = clients
    worker = resequencer.Worker("nowhere", "shop", lambda work: b"done", commit_every_s=0)
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    wait_until(lambda: worker.counts.results == 2 and reader.committed)
    time.sleep(0.1)  # many steps, each of which may commit
    assert sorted(sender.sent) == [b"d0", b"d1", b"d2"] and reader.committed == [1]
    sender.held_back.clear()
    wait_until(lambda: reader.committed[-1] == 3)
    worker.stop()
    thread.join(LIMIT_S)
    assert reader.committed == [1, 3]


def test_nothing_is_committed_from_a_result_on_that_cannot_be_written(clients):
    reader, sender = clients
    sender.held_back, sender.error = {b"d0", b"d2"}, KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)
    worker = resequencer.Worker("nowhere", "shop", lambda work: b"done", commit_every_s=0, stop_within_s=0.1)
    with pytest.raises(resequencer.worker.KafkaException):
        worker.run()
    assert reader.committed == []
