"""Clients that a worker takes for those of Kafka: what they hand out, and when they acknowledge, is what a test says.

Thread rule: as the clients of confluent-kafka."""
import time

import resequencer.worker
from confluent_kafka import KafkaException, TopicPartition

WORK = "shop.work"


class Message:
    def __init__(self, offset, headers=(), written_ms=0):
        self._offset, self._headers, self._written_ms = offset, list(headers), written_ms

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
        return [("reseq-seq", b"1"), ("reseq-targets", b"search"), *self._headers]

    def timestamp(self):
        return 1, self._written_ms


class Reader:
    """Hands out records of one partition."""

    def __init__(self, records):
        self.records = list(records)
        self.committed, self.error, self.paused = [], None, False

    def subscribe(self, _, on_assign, **listeners):
        self.on_revoke = listeners["on_revoke"]
        on_assign(self, self.assignment())

    def assignment(self):
        return [TopicPartition(WORK, 0)]

    def pause(self, _):
        self.paused = True

    def resume(self, _):
        self.paused = False

    def poll(self, timeout):
        if self.records and not self.paused:
            return self.records.pop(0)
        time.sleep(min(timeout, 0.001))
        return None

    def commit(self, *, offsets, asynchronous):
        assert not asynchronous
        if self.error is not None:
            raise KafkaException(self.error)
        self.committed += [one.offset for one in offsets]
        return offsets

    def close(self):
        self.on_revoke(self, self.assignment())


class Sender:
    """Acknowledges what is not held back."""

    def __init__(self, *held_back):
        self.held_back, self.sent, self.waiting, self.error = set(held_back), [], [], None
        self.headers = []  # of what was sent

    def produce(self, topic, value, key, headers, partition, on_delivery):
        self.sent.append(key)
        self.headers.append(dict(headers))
        self.waiting.append((key, on_delivery))

    def poll(self, timeout):
        waiting, self.waiting = self.waiting, []
        for key, on_delivery in waiting:
            if key in self.held_back:
                self.waiting.append((key, on_delivery))
            else:
                on_delivery(self.error, Message(0))
        return 0


def use(monkeypatch, reader, sender):
    monkeypatch.setattr(resequencer.worker, "open_consumer", lambda *_: reader)
    monkeypatch.setattr(resequencer.worker, "open_producer", lambda *_: sender)
    monkeypatch.setattr(resequencer.worker, "sizes_of", lambda *_: {})
    monkeypatch.setattr(resequencer.worker, "partitions_of", lambda *_: 1)
