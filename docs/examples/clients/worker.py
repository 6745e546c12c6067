#!/usr/bin/env python3
"""A worker with threads, complete: what is yours is enrich(). Start as many as you like.

    worker.py BROKERS APPLICATION LETTERS [SETTING=VALUE]...

SETTING is one of librdkafka, for both clients: what your brokers ask for, and partitioner=consistent_random where the
configuration has partitioner = "crc32". Reads APPLICATION.work, writes a result for each target to
APPLICATION.commands, and to the topic LETTERS, which has to be there, what became of a record that enrich() could not
use. One thread does all that concerns Kafka.
"""
import json
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

THREADS = 16
UNFINISHED_MAX = 256  # records that are held; then reading pauses, and goes on at half of it
COMMIT_EVERY_S = 1
TRY_AGAIN_S = 1


def enrich(payload, target):
    """Yours: the result for one target. Runs in many threads. OSError (connections, timeouts: what passes) is tried
    again; any other exception is about this payload. Errors of HTTP are OSErrors as well: what a service says about
    the payload (4xx) has to be raised as something else, a ValueError say, or it is tried again for nothing."""
    document = json.loads(payload)
    time.sleep(document.get("takes_s", 0))  # a service that answers when it likes
    document["for"] = target
    return json.dumps(document)


class Share:
    """A partition for as long as it is ours. What may be committed ends where the first unfinished record stands."""

    def __init__(self):
        self.ours = True
        self.finished = {}  # by offset, in the order of reading; what stands before `ready` is gone
        self.ready = self.committed = 0

    def finish(self, offset):
        self.finished[offset] = True
        while self.finished and self.finished[next(iter(self.finished))]:
            self.ready = next(iter(self.finished)) + 1
            del self.finished[self.ready - 1]


class Task:
    """A record of work. Finished when all that was sent for it is acknowledged."""

    def __init__(self, record, share):
        self.record, self.share = record, share
        self.unacknowledged = 0

    def copied(self):
        """All reseq-* headers, known or not."""
        return [(name, value) for name, value in self.record.headers() or [] if name.startswith("reseq-")]

    def results(self):
        """In a thread: target and payload of each result; None when the partition is not ours any more."""
        headers = dict(self.record.headers())
        answers = []
        for target in headers["reseq-targets"].decode().split(","):
            answer = None  # the result of a deletion
            while headers.get("reseq-op") != b"delete" and answer is None:
                if not self.share.ours:
                    return None
                try:
                    answer = enrich(self.record.value(), target)
                except OSError as error:
                    print(f"tried again: {self.record.key()}: {error}", flush=True)
                    time.sleep(TRY_AGAIN_S)
                    continue
                if answer is None:  # a bug must not delete a document
                    raise ValueError("enrich() returned nothing")
            answers.append((target, answer))
        return answers


class Worker:
    def __init__(self, brokers, application, letters, *settings):
        self.commands, self.letters = f"{application}.commands", letters
        own = dict(one.split("=", 1) for one in settings)
        self.producer = Producer({"bootstrap.servers": brokers, "enable.idempotence": True,
                                  "partitioner": "murmur2_random", "message.timeout.ms": 0,  # as long as it takes
                                  "message.max.bytes": 17825792, "queue.buffering.max.kbytes": 2147483647,
                                  "socket.nagle.disable": True, **own})
        if self.producer.list_topics(letters, 30).topics[letters].error:
            sys.exit(f"the topic {letters} is not there")
        self.consumer = Consumer({"bootstrap.servers": brokers, "group.id": f"{application}.workers",
                                  "isolation.level": "read_committed", "auto.offset.reset": "earliest",
                                  "enable.auto.commit": False, "socket.nagle.disable": True, **own})
        self.consumer.subscribe([f"{application}.work"], on_assign=self.on_assign, on_revoke=self.on_revoke,
                                on_lost=self.on_lost)
        self.shares = {}
        self.computed = SimpleQueue()  # tasks and their futures, from the threads
        self.unfinished = 0
        self.paused = self.assigned = self.stopping = False
        self.commit_at = 0

    def run(self):
        threads = ThreadPoolExecutor(THREADS)
        try:
            while not self.stopping:
                self.pause_or_resume()
                record = self.consumer.poll(0.02)
                if record is not None:
                    self.take(record, threads)
                self.send_computed()
                if time.monotonic() >= self.commit_at:
                    self.commit()
            for share in self.shares.values():
                share.ours = False  # what has not begun is left to the next start
            threads.shutdown()
            self.send_computed()
            self.producer.flush(30)
        finally:
            self.consumer.close()  # which commits: on_revoke

    def pause_or_resume(self):
        """Polling never stops, however long records take: whoever does not poll is put out of the group."""
        full = self.unfinished > (UNFINISHED_MAX / 2 if self.paused else UNFINISHED_MAX - 1)
        if full != self.paused or self.assigned:
            (self.consumer.pause if full else self.consumer.resume)(self.consumer.assignment())
        self.paused, self.assigned = full, False

    def take(self, record, threads):
        if record.error():
            print(f"consumer: {record.error()}", flush=True)
            if record.error().fatal():
                raise KafkaException(record.error())
            return
        share = self.shares[record.topic(), record.partition()]
        share.finished[record.offset()] = False
        self.unfinished += 1
        task = Task(record, share)
        threads.submit(task.results).add_done_callback(lambda future: self.computed.put((task, future)))

    def send_computed(self):
        while not self.computed.empty():
            task, future = self.computed.get()
            if future.exception():
                self.send_letter(task, future.exception())
            elif future.result() is None:
                self.unfinished -= 1
            else:
                for target, payload in future.result():
                    headers = [("reseq-command", "sequence"), ("reseq-target", target)]
                    self.send(task, self.commands, payload, task.copied() + headers)
        self.producer.poll(0)

    def send_letter(self, task, error):
        """The document keeps what it has, and goes on waiting: `resequencer reprocess` asks for it once more."""
        record = task.record
        place = f"{record.topic()}[{record.partition()}]@{record.offset()}"
        print(f"cannot be used: {record.key()} {place}: {error!r}", flush=True)
        self.send(task, self.letters, None, task.copied() + [("error", repr(error)[:1000]), ("place", place)])

    def send(self, task, topic, payload, headers):
        task.unacknowledged += 1
        sent = (topic, payload, headers)
        try:
            self.producer.produce(topic, key=task.record.key(), value=payload, headers=headers,
                                  on_delivery=partial(self.on_delivery, task, sent))
        except KafkaException as error:  # too large for this client
            self.on_delivery(task, sent, error.args[0], None)

    def on_delivery(self, task, sent, error, message):
        task.unacknowledged -= 1
        if error and error.code() == KafkaError.MSG_SIZE_TOO_LARGE and sent[0] == self.commands:
            self.send_letter(task, KafkaException(error))
        elif error:
            raise KafkaException(error)  # a right, a topic: the process ends; what is not committed is read again
        elif message.offset() < 0:
            self.send(task, *sent)  # only what has an offset is in the log
        elif task.unacknowledged == 0:
            task.share.finish(task.record.offset())
            self.unfinished -= 1

    def commit(self):
        """One that fails loses nothing: whoever has the partition then does again what was not committed."""
        self.commit_at = time.monotonic() + COMMIT_EVERY_S
        ready = [TopicPartition(*place, share.ready) for place, share in self.shares.items()
                 if share.ready > share.committed]
        if not ready:
            return
        try:
            for done in self.consumer.commit(offsets=ready, asynchronous=False):
                if not done.error:
                    self.shares[done.topic, done.partition].committed = done.offset
        except KafkaException as error:  # _ASSIGNMENT_LOST and others: the next poll() says what is still ours
            print(f"not committed: {error.args[0].name()}", flush=True)

    def on_assign(self, _, partitions):
        print(f"assigned: {len(partitions)} partitions", flush=True)
        self.shares.update({(one.topic, one.partition): Share() for one in partitions})
        self.assigned = True

    def on_revoke(self, _, partitions):
        self.commit()
        self.forget(partitions)

    def on_lost(self, _, partitions):
        print(f"lost: {len(partitions)} partitions, which others may have", flush=True)
        self.forget(partitions)

    def forget(self, partitions):
        for one in partitions:
            share = self.shares.pop((one.topic, one.partition), None)
            if share:
                share.ours = False

    def stop(self, *_):
        self.stopping = True


worker = Worker(*sys.argv[1:])
signal.signal(signal.SIGTERM, worker.stop)
signal.signal(signal.SIGINT, worker.stop)
worker.run()
