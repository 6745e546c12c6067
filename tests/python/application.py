"""A real Kafka and applications of the resequencer on it, for the tests of the Python package.

Thread rule: one thread; the readers of logs may be used by any."""
import ctypes
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from resequencer import Producer
from resequencer.confluent import headers_of

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).resolve().parent / "worker_program.py"
PATIENCE_S = 120
LIBC, PR_SET_PDEATHSIG = ctypes.CDLL(None), 1
STARTED = time.time_ns() // 1_000_000 % 1_000_000
names = itertools.count(1)

TWO_TARGETS = '[[target]]\nname = "search"\n[[target]]\nname = "catalogue"\n'


def unique(what):
    return f"{what}-{os.getpid()}-{STARTED}-{next(names)}"


def wait_until(holds, what="it", limit_s=PATIENCE_S):
    """The first true value of `holds()`."""
    until = time.monotonic() + limit_s
    while not (value := holds()):
        assert time.monotonic() < until, f"waited {limit_s} s in vain for {what() if callable(what) else what}"
        time.sleep(0.05)
    return value


def start_process(argv, **options):
    """It ends with this process, however that ends."""
    return subprocess.Popen(argv, preexec_fn=lambda: LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL), **options)


@dataclass(frozen=True)
class Logged:
    """A record as it stands in a log."""

    partition: int
    offset: int
    key: bytes
    payload: bytes
    headers: list

    def header(self, name):
        return dict(self.headers).get(name)

    @property
    def id(self):
        return self.key.decode()


def log_of(brokers, topic):
    """All committed records of a topic, up to where it ends now."""
    reader = Consumer({"bootstrap.servers": brokers, "group.id": "reader", "isolation.level": "read_committed",
                       "enable.partition.eof": True, "enable.auto.commit": False, "auto.offset.reset": "earliest"})
    try:
        known = reader.list_topics(topic, 30).topics[topic].partitions
        partitions = [TopicPartition(topic, number, 0) for number in known]
        reader.assign(partitions)
        found, open_ones, until = [], {one.partition for one in partitions}, time.monotonic() + PATIENCE_S
        while open_ones:
            assert time.monotonic() < until, f"cannot read {topic}"
            for record in reader.consume(1000, 0.05):
                if record.error() is None:
                    found.append(Logged(record.partition(), record.offset(), record.key(), record.value(),
                                        headers_of(record)))
                elif record.error().code() == KafkaError._PARTITION_EOF:
                    open_ones.discard(record.partition())
        return found
    finally:
        reader.close()


def committed(brokers, group, topic):
    """Where a group goes on, by partition; negative: from the beginning."""
    asker = Consumer({"bootstrap.servers": brokers, "group.id": group})
    try:
        partitions = [TopicPartition(topic, one) for one in asker.list_topics(topic, 30).topics[topic].partitions]
        return {one.partition: one.offset for one in asker.committed(partitions, 30)}
    finally:
        asker.close()


def make_topic(brokers, topic, partitions=1):
    admin = AdminClient({"bootstrap.servers": brokers})  # has to be there until the answer is
    admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result()
    wait_until(lambda: (known := admin.list_topics(topic, 30).topics[topic]).error is None and known.partitions, topic)
    return topic


class Application:
    """A resequencer with the targets `search` and `catalogue`, as a process of its own."""

    def __init__(self, brokers, folder, more="", targets=TWO_TARGETS, work_partitions=1, name=None):
        self.brokers, self.name = brokers, name or unique("shop")
        self.folder = Path(folder, self.name)
        self.folder.mkdir()
        self.config = self.folder / "shop.toml"
        self.config.write_text(
            f'application.id = "{self.name}"\nbootstrap.servers = "{brokers}"\nstate.dir = "{self.folder}/state"\n'
            f'events = "drops"\nhttp.listen = ""\ninit.work_partitions = {work_partitions}\n'
            f'init.output_partitions = 1\n{more}{targets}')
        self.program = str(Path(os.environ["RESEQ_PROGRAMS"], "resequencer"))
        self.run_command("init")
        self.process = None
        self.start()

    def start(self):
        with open(self.folder / "log", "a", encoding="utf-8") as log:
            self.process = start_process([self.program, "run", "--config", self.config], stdout=log, stderr=log)

    def stop(self):
        self.process.terminate()
        assert self.process.wait(60) == 0, (self.folder / "log").read_text()[-4000:]

    def end(self):
        self.process.kill()
        self.process.wait()

    def run_command(self, *words):
        done = subprocess.run([self.program, *words, "--config", self.config], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def topic(self, role):
        return f"{self.name}.{role}"

    def read(self, role):
        return log_of(self.brokers, self.topic(role))

    def newest(self, target):
        """By id, the record with the highest version."""
        newest = {}
        for record in self.read(f"output.{target}"):
            held = newest.get(record.id)
            if held is None or int(record.header("reseq-version")) > int(held.header("reseq-version")):
                newest[record.id] = record
        return newest

    def wait_for(self, sequences, targets=("search", "catalogue")):
        """Until each of these documents has its newest sequence."""
        def missing():
            return {(target, id): seq for target in targets for id, seq in sequences.items()
                    if (has := newest[target].get(id)) is None or has.header("reseq-seq") != str(seq).encode()}

        newest = {}
        until = time.monotonic() + PATIENCE_S
        while True:
            newest.update({target: self.newest(target) for target in targets})
            if not (lacking := missing()):
                return newest[targets[0]]
            some = dict(itertools.islice(lacking.items(), 5))
            assert time.monotonic() < until, f"missing: {some}, {len(lacking)} in all"
            time.sleep(0.1)

    def committed(self, group=None):
        return committed(self.brokers, group or f"{self.name}.workers", self.topic("work"))


FAST = {"commit_every_s": 0.1}  # of workers
SESSION_S = 6  # the shortest that brokers allow
SESSION = {"session.timeout.ms": 1000 * SESSION_S, "heartbeat.interval.ms": 1000}


def request(shop, *ids, seq=1, payload="x"):
    with Producer(shop.brokers, shop.name) as producer:
        for one in ids:
            producer.send(one, seq, payload)
    return {one: seq for one in ids}


class InThread:
    """A worker or a sink whose run() is done by a thread, until stop()."""

    def __init__(self, one, **arguments):
        self.one, self.error = one, None
        self.thread = threading.Thread(target=self._run, args=(arguments,), daemon=True)
        self.thread.start()

    def _run(self, arguments):
        try:
            self.one.run(**arguments)
        except BaseException as error:
            self.error = error

    def wait(self):
        self.thread.join(PATIENCE_S)
        assert not self.thread.is_alive(), "it does not end"

    def stop(self):
        self.one.stop()
        self.wait()
        if self.error is not None:
            raise self.error

    def __enter__(self):
        return self.one

    def __exit__(self, kind, error, trace):
        if kind is None:
            self.stop()
        else:
            self.one.stop()


class WorkerProcess:
    """A worker as a process of its own; see worker_program.py."""

    def __init__(self, application, log, **options):
        self.log = Path(log)
        with open(self.log, "w", encoding="utf-8") as out:
            self.process = start_process(
                [sys.executable, PROGRAM, application.brokers, application.name, json.dumps(options)], stdout=out,
                stderr=out)

    def says(self, what):
        return what in self.log.read_text()

    def begun(self):
        """Ids that its function was called for."""
        return [line.rsplit(" ", 1)[1] for line in self.log.read_text().splitlines() if "begun: " in line]

    def wait_for(self, what):
        wait_until(lambda: self.says(what), lambda: f"{what!r} in\n{self.log.read_text()[-4000:]}")

    def signal(self, number):
        self.process.send_signal(number)

    def ended(self):
        """Its exit code."""
        return self.process.wait(PATIENCE_S)

    def end(self):
        self.process.kill()
        self.process.wait()
