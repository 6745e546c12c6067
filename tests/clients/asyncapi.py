#!/usr/bin/env python3
"""Holds the records of an application against schemas/asyncapi.json.

    asyncapi.py DOCUMENT BROKERS APPLICATION

Prints how many records were met of each message of the document, as `requests.reset 4`, and a line that begins with
`wrong:` for every record that is none of the messages of its channel, and for every reference that leads nowhere.
Inputs that became dead letters may be anything.
"""
import collections
import json
import os
import re
import sys

import jsonschema
from confluent_kafka import Consumer, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient

LIMIT_S = 30


def wrong(what):
    print("wrong:", what)


class Described:
    """The document: its channels by topic, and what a record of a message has to be."""

    def __init__(self, path, application):
        self.folder = "file://" + os.path.dirname(os.path.abspath(path)) + "/"
        with open(path, encoding="utf-8") as file:
            self.document = json.load(file)
        self.resolver = self.new_resolver()
        self.channels = {}
        for name, channel in self.document["channels"].items():
            named = set(re.findall("{([a-z]+)}", channel["address"]))
            if named != set(channel["parameters"]):
                wrong(f"{name}: the parameters are not those of the address")
            topic = re.escape(channel["address"]).replace(r"\{application\}", re.escape(application))
            self.channels[name] = re.compile(topic.replace(r"\{target\}", "[A-Za-z0-9._-]+"))

    def new_resolver(self):
        return jsonschema.RefResolver(self.folder, self.document)

    def resolved(self, value):
        return self.resolver.resolve(value["$ref"])[1] if "$ref" in value else value

    def check_references(self, value):
        for member in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            self.check_references(member)
        if isinstance(value, dict) and "$ref" in value:
            try:
                self.resolver.resolve(value["$ref"])
            except jsonschema.RefResolutionError as error:
                wrong(f"{value['$ref']}: {error}")

    def schemas_of(self, message):
        """Pairs of what is checked and its schema."""
        for trait in message.get("traits", []):
            yield "key", self.resolved(trait)["bindings"]["kafka"]["key"]
        if "headers" in message:
            yield "headers", message["headers"]
        if "schemaFormat" in message["payload"]:
            yield "payload", message["payload"]["schema"]

    def mismatch(self, message, record):
        """What of the record is not as the message says, empty when all is."""
        for what, schema in self.schemas_of(message):
            kind = jsonschema.Draft202012Validator if what == "payload" else jsonschema.Draft7Validator
            # One of its own: since 4.18 a validator leaves the resolver in the file that it went to.
            for error in kind(schema, resolver=self.new_resolver()).iter_errors(record[what]()):
                return f"{what} {error.json_path}: {error.message}"
        return ""

    def names_of(self, channel, record):
        """Names of the messages that the record can be, and why it is not one of the others."""
        names, why = [], []
        for name, message in self.document["channels"][channel]["messages"].items():
            mismatch = self.mismatch(self.resolved(message), record)
            if mismatch:
                why.append(f"{name}: {mismatch}")
            else:
                names.append(name)
        return names, why


def records_of(brokers, topic):
    consumer = Consumer({
        "bootstrap.servers": brokers,
        "group.id": "asyncapi",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "fetch.wait.max.ms": 10,
    })
    for partition in AdminClient({"bootstrap.servers": brokers}).list_topics(topic, LIMIT_S).topics[topic].partitions:
        consumer.assign([TopicPartition(topic, partition, 0)])
        while True:
            record = consumer.poll(LIMIT_S)
            if record is None:
                sys.exit(f"{topic}[{partition}]: nothing comes")
            if record.error() and record.error().code() == KafkaError._PARTITION_EOF:
                break
            if record.error():
                sys.exit(str(record.error()))
            yield record
    consumer.close()


def parts_of(record):
    """What the schemas speak of; a part is read only when one does."""
    return {
        "key": lambda: (record.key() or b"").decode(),
        "headers": lambda: {name: value.decode() for name, value in record.headers() or []},
        "payload": lambda: json.loads(record.value()),
    }


def main(path, brokers, application):
    described = Described(path, application)
    described.check_references(described.document)
    topics = [topic for topic in AdminClient({"bootstrap.servers": brokers}).list_topics(timeout=LIMIT_S).topics
              if topic.startswith(application + ".") and not topic.endswith(".changelog")]
    refused = set()
    for record in records_of(brokers, application + ".dead-letter"):
        headers = parts_of(record)["headers"]()
        refused.add(tuple(headers["reseq-source-" + part] for part in ("topic", "partition", "offset")))
    met = collections.Counter()
    for topic in sorted(topics):
        channel = next((name for name, pattern in described.channels.items() if pattern.fullmatch(topic)), None)
        if channel is None:
            wrong(f"{topic}: no channel")
            continue
        for record in records_of(brokers, topic):
            if (topic, str(record.partition()), str(record.offset())) in refused:
                continue
            names, why = described.names_of(channel, parts_of(record))
            met.update(f"{channel}.{name}" for name in names)
            if len(names) != 1:
                wrong(f"{topic}[{record.partition()}]@{record.offset()}: is {names}; {why}")
    for name, count in sorted(met.items()):
        print(name, count)


main(*sys.argv[1:])
