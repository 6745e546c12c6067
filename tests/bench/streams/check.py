#!/usr/bin/python3
"""Shows that the Kafka Streams peer of the benchmark does what the resequencer does with the same topics.

    tests/bench/streams/check.py [--bootstrap-servers HOST:PORT] [--documents N]

Without a broker it starts one with script/kafka. For each store: requests with old ones, repeated ones and bad ones,
all of their results, the old ones and repetitions too, then newer requests and their results. The peer is killed with
-9 in the middle of the requests (in mode intake; it goes on in mode life) and of the results. Every record of work and
of the outputs is compared with what a loop over the inputs says. Prints a line per check; code 0 if all are right.
"""
import argparse
import collections
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

FOLDER = pathlib.Path(__file__).resolve().parent
TARGETS = ["search", "catalogue"]
PARTITIONS = 4
LIMIT_S = 180
PORTION = 100

Request = collections.namedtuple("Request", "id seq payload headers")


class Topics:
    """The topics of one application, written and read."""

    def __init__(self, servers, application):
        self.servers = servers
        self.application = application
        self.written = collections.Counter()
        self.producer = Producer({"bootstrap.servers": servers, "partitioner": "murmur2_random", "acks": "all"})
        roles = ["requests", "commands", "work", "dead-letter"] + [f"output.{target}" for target in TARGETS]
        admin = AdminClient({"bootstrap.servers": servers, "log_level": 3})
        made = admin.create_topics([NewTopic(self.name(role), PARTITIONS, 1) for role in roles])
        for future in made.values():
            future.result()

    def name(self, role):
        return f"{self.application}.{role}"

    def send(self, role, key, payload, headers):
        while True:
            try:
                self.producer.produce(self.name(role), payload, key, headers=headers)
                break
            except BufferError:
                self.producer.poll(0.1)
        self.written[role] += 1

    def flush(self):
        assert self.producer.flush(LIMIT_S) == 0, "not everything was sent"

    def reader(self, group):
        return Consumer({"bootstrap.servers": self.servers, "group.id": group, "enable.auto.commit": False,
                         "isolation.level": "read_committed", "auto.offset.reset": "earliest",
                         "enable.partition.eof": True})

    def read(self, role):
        """All committed records: [(key, payload, {header: value})], in order within each partition."""
        consumer = self.reader("check")
        consumer.assign([TopicPartition(self.name(role), p, 0) for p in range(PARTITIONS)])
        records, ends = [], set()
        deadline = time.monotonic() + LIMIT_S
        while len(ends) < PARTITIONS and time.monotonic() < deadline:
            message = consumer.poll(1)
            if message is None:
                continue
            if message.error():
                assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                ends.add(message.partition())
                continue
            headers = {name: value.decode() for name, value in message.headers() or []}
            records.append((message.key() and message.key().decode(), message.value(), headers))
        consumer.close()
        assert len(ends) == PARTITIONS, f"cannot read {role} to its end"
        return records

    def committed(self, role):
        """How many records of an input the peer has committed."""
        consumer = self.reader(self.application)
        places = consumer.committed([TopicPartition(self.name(role), p) for p in range(PARTITIONS)], timeout=30)
        consumer.close()
        return sum(max(place.offset, 0) for place in places)

    def wait(self, role, count, peer):
        deadline = time.monotonic() + LIMIT_S
        while (done := self.committed(role)) < count:
            assert time.monotonic() < deadline, f"{role}: {done} of {count} records committed in {LIMIT_S} s"
            assert peer.poll() is None, f"the peer ended with code {peer.poll()}"
            time.sleep(0.05)


running = []  # at most the peer that was started last


def start(topics, mode, store, state):
    peer = subprocess.Popen(
        [str(FOLDER / "peer"), "--bootstrap-servers", topics.servers, "--application", topics.application,
         "--mode", mode, "--store", store, "--state", state, "--targets", ",".join(TARGETS),
         # A static member: nobody waits for the session of the killed one. Another one for each mode, because a static
         # member that comes back may keep what it was assigned, and mode life reads more.
         "--set", f"main.consumer.group.instance.id={mode}", "--set", "main.consumer.session.timeout.ms=6000"],
        stdout=subprocess.PIPE, stderr=open(f"{state}.log", "a"), text=True)
    running[:] = [peer]
    line = peer.stdout.readline()
    assert line == "ready\n", f"the peer said {line!r}, see {state}.log"
    return peer


def kill(peer):
    peer.send_signal(signal.SIGKILL)
    peer.wait()


def make_requests(random_source, documents):
    """Sequences up and down, repeated ones, gaps; deletes; with and without epochs, targets and headers of others."""
    requests = []
    for number in range(documents * 4):
        seq = random_source.randrange(1, 40)
        headers = [("reseq-seq", str(seq)), ("traceparent", f"trace-{number}"), ("reseq-invented", "kept")]
        if random_source.random() < 0.3:
            headers.append(("reseq-epoch", "0"))
        if random_source.random() < 0.3:
            headers += [("reseq-targets", "catalogue,search"), ("reseq-reprocess", "false"), ("reseq-version", "7")]
        payload = None if random_source.random() < 0.1 else b"payload %d" % number
        requests.append(Request(f"doc-{random_source.randrange(documents)}", seq, payload, headers))
    return requests


def work_of(requests):
    """What must be on work: for each document, in order, the requests that are newer than all before them."""
    newest, work = {}, collections.defaultdict(list)
    for request in requests:
        if request.seq <= newest.get(request.id, 0):
            continue
        newest[request.id] = request.seq
        headers = {name: value for name, value in request.headers if name not in ("reseq-reprocess", "reseq-version")}
        headers.setdefault("reseq-epoch", "0")
        headers.setdefault("reseq-targets", ",".join(TARGETS))
        if request.payload is None:
            headers["reseq-op"] = "delete"
        work[request.id].append((request.payload, headers))
    return work


def by_document(records):
    found = collections.defaultdict(list)
    for key, payload, headers in records:
        found[key].append((payload, headers))
    return found


def send_requests(topics, requests):
    for request in requests:
        topics.send("requests", request.id, request.payload, request.headers)
    topics.flush()


def results_of(work, random_source):
    """Every record of work answered for every target, some twice, in any order: [(key, payload, headers)]."""
    results = []
    for key, answers in work.items():
        for payload, headers in answers:
            copied = [(name, value) for name, value in headers.items() if name.startswith("reseq-")]
            for target in TARGETS:
                result = (key, payload and b"result of " + payload,
                          copied + [("reseq-command", "sequence"), ("reseq-target", target)])
                results += [result] * (2 if random_source.random() < 0.1 else 1)
    random_source.shuffle(results)
    return results


def send_through_kill(topics, role, records, peer, restart):
    """Sends the records in portions, and kills the peer once when a quarter is committed: then it mostly has a
    transaction open, and there is more to come. Returns the peer that goes on, and what was committed by the first."""
    killed_at = None
    for begin in range(0, len(records), PORTION):
        for record in records[begin:begin + PORTION]:
            topics.send(role, *record)
        topics.flush()
        if killed_at is None and topics.committed(role) >= len(records) // 4:
            killed_at, peer = kill_and_go_on(topics, role, peer, restart)
    if killed_at is None:  # a slow one
        topics.wait(role, len(records) // 4, peer)
        killed_at, peer = kill_and_go_on(topics, role, peer, restart)
    topics.wait(role, len(records), peer)
    return peer, killed_at


def kill_and_go_on(topics, role, peer, restart):
    kill(peer)
    return topics.committed(role), restart()


def check_outputs(topics, rounds):
    """Each round of work has released the newest order of each of its documents once; versions rise."""
    for target in TARGETS:
        found = by_document(topics.read(f"output.{target}"))
        expected = collections.defaultdict(list)
        for work in rounds:
            for key, answers in work.items():
                payload, headers = answers[-1]
                expected[key].append((payload and b"result of " + payload, headers["reseq-seq"],
                                      headers.get("reseq-op")))
        said = {key: [(payload, headers["reseq-seq"], headers.get("reseq-op")) for payload, headers in records]
                for key, records in found.items()}
        assert said == expected, f"wrong outputs of {target}"
        for records in found.values():
            versions = [int(headers["reseq-version"]) for _, headers in records]
            assert versions == sorted(set(versions)) and versions[0] > 0, f"versions do not rise: {versions}"
            assert all(headers["reseq-target"] == target and headers["reseq-invented"] == "kept"
                       and "reseq-command" not in headers for _, headers in records), "wrong headers"


def bad_records(topics):
    """One record for each reason, and the reasons."""
    command = [("reseq-command", "sequence"), ("reseq-target", "search")]
    topics.send("requests", "bad", b"x", [])
    topics.send("requests", "bad", b"x", [("reseq-seq", "18446744073709551616")])
    topics.send("requests", "", b"x", [("reseq-seq", "1")])
    topics.send("requests", "bad", b"x", [("reseq-seq", "1"), ("reseq-epoch", "4294967296")])
    topics.send("requests", "bad", b"x", [("reseq-seq", "1"), ("reseq-targets", "search,nowhere")])
    topics.send("commands", "bad", b"x", [("reseq-command", "invented"), ("reseq-seq", "1")])
    topics.send("commands", "bad", b"x", command + [("reseq-seq", "1")])
    topics.send("commands", "bad", b"x", command[:1] + [("reseq-seq", "1")])
    topics.flush()
    return sorted(["missing_sequence", "malformed_sequence", "empty_id", "malformed_header", "unknown_target",
                   "unknown_command", "unregistered", "missing_target"])


def check_store(servers, store, documents, state):
    topics = Topics(servers, f"peer-{store}-{os.getpid()}")
    source = random.Random(7)

    def go_on():
        return start(topics, "life", store, state)

    first = make_requests(source, documents)
    records = [(request.id, request.payload, request.headers) for request in first]
    peer = start(topics, "intake", store, state)
    peer, killed_at = send_through_kill(topics, "requests", records, peer, go_on)
    work = work_of(first)
    assert by_document(topics.read("work")) == work, "wrong records on work"
    forwarded = sum(map(len, work.values()))
    print(f"{store}: {len(first)} requests, {forwarded} on work, killed at {killed_at}", flush=True)

    results = results_of(work, source)
    peer, killed_at = send_through_kill(topics, "commands", results, peer, go_on)
    check_outputs(topics, [work])
    print(f"{store}: {len(results)} results, {len(work)} released to each target, killed at {killed_at}", flush=True)

    newer = [Request(f"doc-{n}", 100, b"newer", [("reseq-seq", "100"), ("reseq-invented", "kept")])
             for n in range(documents // 10)]
    send_requests(topics, newer)
    topics.wait("requests", topics.written["requests"], peer)
    work_of_newer = work_of(newer)
    both = {key: work.get(key, []) + answers for key, answers in work_of_newer.items()}
    for result in results_of(both, source):
        topics.send("commands", *result)
    reasons = bad_records(topics)
    for role in ("requests", "commands"):
        topics.wait(role, topics.written[role], peer)
    check_outputs(topics, [work, work_of_newer])
    said = sorted(headers["reseq-reason"] for _, _, headers in topics.read("dead-letter"))
    assert said == reasons, f"dead letters: {said}"
    peer.send_signal(signal.SIGTERM)
    assert peer.wait(LIMIT_S) == 0, f"SIGTERM ended the peer with code {peer.returncode}"
    print(f"{store}: {len(newer)} newer requests, {len(reasons)} dead letters, ended with code 0", flush=True)


def kafka(action, folder):
    command = [FOLDER.parents[2] / "script" / "kafka", action, "--dir", f"{folder}/broker", "--while", str(os.getpid())]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bootstrap-servers", help="a broker that runs; otherwise one is started")
    parser.add_argument("--documents", type=int, default=2500, help="four requests each")
    arguments = parser.parse_args()
    subprocess.run([FOLDER / "peer", "--build"], check=True)
    folder = tempfile.mkdtemp(prefix="reseq-peer-")  # stays, with the logs, when something is wrong
    servers = arguments.bootstrap_servers or kafka("start", folder).split("=", 1)[1]
    try:
        for store in ("rocksdb", "memory"):
            check_store(servers, store, arguments.documents, f"{folder}/{store}")
    finally:
        for peer in running:
            kill(peer)
        if not arguments.bootstrap_servers:
            kafka("wipe", folder)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
