"""When a worker commits. A broker acknowledges within milliseconds, so the client that acknowledges when the test wants
it is a stand-in here."""
import threading
import time

import pytest
import resequencer.worker
from application import wait_until
from confluent_kafka import KafkaError, TopicPartition

LIMIT_S = 10
WORK = "shop.work"


class Message:
    def __init__(self, offset):
        self._offset = offset

    def error(self):
        return None

    def topic(self):
        return WORK

    def partition(self):
        return 0

    def offset(self):
        return self._offset

    def key(self):
        return b"d%d" % self._offset

    def value(self):
        return b"{}"

    def headers(self):
        return [("reseq-seq", b"1"), ("reseq-targets", b"search")]


class Reader:
    """Hands out three records of one partition."""

    def __init__(self):
        self.records = [Message(offset) for offset in range(3)]
        self.committed = []

    def subscribe(self, _, on_assign, **listeners):
        self.on_revoke = listeners["on_revoke"]
        on_assign(self, self.assignment())

    def assignment(self):
        return [TopicPartition(WORK, 0)]

    def pause(self, _):
        pass

    resume = pause

    def poll(self, timeout):
        if self.records:
            return self.records.pop(0)
        time.sleep(min(timeout, 0.001))
        return None

    def commit(self, *, offsets, asynchronous):
        assert not asynchronous
        self.committed += [one.offset for one in offsets]
        return offsets

    def close(self):
        self.on_revoke(self, self.assignment())


class Sender:
    """Acknowledges what is not held back."""

    def __init__(self, *held_back):
        self.held_back, self.sent, self.waiting, self.error = set(held_back), [], [], None

    def produce(self, topic, value, key, headers, partition, on_delivery):
        self.sent.append(key)
        self.waiting.append((key, on_delivery))

    def poll(self, timeout):
        waiting, self.waiting = self.waiting, []
        for key, on_delivery in waiting:
            if key in self.held_back:
                self.waiting.append((key, on_delivery))
            else:
                on_delivery(self.error, Message(0))
        return 0


@pytest.fixture
def clients(monkeypatch):
    reader, sender = Reader(), Sender(b"d1")
    monkeypatch.setattr(resequencer.worker, "open_consumer", lambda *_: reader)
    monkeypatch.setattr(resequencer.worker, "open_producer", lambda *_: sender)
    monkeypatch.setattr(resequencer.worker, "sizes_of", lambda *_: {})
    monkeypatch.setattr(resequencer.worker, "partitions_of", lambda *_: 1)
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
