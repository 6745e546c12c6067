#!/usr/bin/env python3
"""A client of the resequencer with confluent-kafka: producer, worker and sink of one application.

    client.py BROKERS APPLICATION STEPS [PARTITIONER]

Does the steps of the file STEPS in turn, and prints every record that it reads, then what its index holds:
    send TOPIC[/PARTITION] KEY PAYLOAD [NAME=VALUE]...   TOPIC without the name of the application
    read TOPIC ...                                       the next record of the topic
    answer TARGET PAYLOAD                                a result for the record of work that was read last
Words contain no blanks; the payloads (null) and (empty) mean just that.
"""
import sys

from confluent_kafka import Consumer, Producer

LIMIT_S = 60


def open_producer(brokers, partitioner="murmur2_random"):
    settings = {"bootstrap.servers": brokers, "enable.idempotence": True, "partitioner": partitioner,
                "socket.nagle.disable": True}
    if partitioner == "default":
        del settings["partitioner"]
    return Producer(settings)


def open_consumer(brokers, group, topic):
    consumer = Consumer({
        "bootstrap.servers": brokers,
        "group.id": group,
        "isolation.level": "read_committed",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "socket.nagle.disable": True,
    })
    consumer.subscribe([topic])
    return consumer


def headers_of_result(record, target):
    """All reseq-* headers of the record of work, known or not, and what the result is for."""
    copied = [(name, value) for name, value in record.headers() if name.startswith("reseq-")]
    return copied + [("reseq-command", b"sequence"), ("reseq-target", target.encode())]


def take(record, index, versions):
    """A sink takes what has a higher version than it holds. It remembers the version of what was deleted, too."""
    headers = dict(record.headers())
    version = int(headers["reseq-version"])
    if version <= versions.get(record.key(), 0):
        return
    versions[record.key()] = version
    if record.value() is None or headers.get("reseq-op") == b"delete":
        index.pop(record.key(), None)
    else:
        index[record.key()] = record.value()


class Client:
    def __init__(self, brokers, application, partitioner):
        self.brokers = brokers
        self.application = application
        self.producer = open_producer(brokers, partitioner)
        self.consumers = {}
        self.work = None
        self.index, self.versions = {}, {}

    def send(self, place, key, payload, headers):
        topic, _, partition = place.partition("/")
        failures = []
        self.producer.produce(f"{self.application}.{topic}", key=key, value=payload, headers=headers,
                              partition=int(partition) if partition else -1,
                              on_delivery=lambda error, _: failures.append(error) if error else None)
        if self.producer.flush(LIMIT_S) > 0 or failures:
            raise RuntimeError(f"not delivered: {failures}")

    def read(self, topic):
        if topic not in self.consumers:
            name = f"{self.application}.{topic}"
            self.consumers[topic] = open_consumer(self.brokers, f"{name}.readers", name)
        consumer = self.consumers[topic]
        record = consumer.poll(LIMIT_S)
        if record is None or record.error():
            raise RuntimeError(f"no record of {topic}: {record and record.error()}")
        if topic == "output.search":
            take(record, self.index, self.versions)
        if topic == "work":
            self.work = record  # committed when its result is acknowledged
        else:
            consumer.commit(record, asynchronous=False)
        headers = [f"{name}={value.decode()}" for name, value in record.headers() or []]
        return " ".join(["read", topic, text_of(record.key()), text_of(record.value()), *headers])

    def answer(self, target, payload):
        self.send("commands", self.work.key(), payload, headers_of_result(self.work, target))
        self.consumers["work"].commit(self.work, asynchronous=False)

    def close(self):
        for consumer in self.consumers.values():
            consumer.close()


def text_of(data):
    return "(null)" if data is None else data.decode() or "(empty)"


def payload_of(text):
    return {"(null)": None, "(empty)": b""}.get(text, text.encode())


def main(brokers, application, steps, partitioner="murmur2_random"):
    client = Client(brokers, application, partitioner)
    with open(steps, encoding="utf-8") as lines:
        for words in (line.split() for line in lines):
            if words[:1] == ["send"]:
                headers = [tuple(word.split("=", 1)) for word in words[4:]]
                client.send(words[1], words[2], payload_of(words[3]), headers)
            elif words[:1] == ["answer"]:
                client.answer(words[1], payload_of(words[2]))
            elif words[:1] == ["read"]:
                print(client.read(words[1]), flush=True)
    for key in sorted(client.index):
        print("index", key.decode(), client.index[key].decode())
    client.close()


main(*sys.argv[1:])
