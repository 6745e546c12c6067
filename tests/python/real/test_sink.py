"""Sinks of a real output topic."""
import pytest
from application import InThread, log_of, unique, wait_until
from confluent_kafka import Producer as Plain
from resequencer import NoSuchTopic, Producer, Sink, Worker


class Store:
    """Remembers the version of what was deleted, too."""

    def __init__(self):
        self.held, self.puts = {}, 0

    def get(self, id):
        return self.held.get(id, (0, None))[0]

    def put(self, change):
        self.puts += 1
        self.held[change.id] = (change.version, change.payload)

    def apply(self, change):
        if change.version <= self.get(change.id):
            return False
        self.put(change)
        return True


@pytest.fixture
def filled(brokers, application):
    """Fifty documents of three changes each; every fifth is deleted by the third."""
    shop = application(targets='[[target]]\nname = "search"\n')
    sequences = {f"it-{i}": 3 for i in range(50)}
    with InThread(Worker(brokers, shop.name, lambda work: work.payload, commit_every_s=0.1)):
        for seq in (1, 2, 3):
            with Producer(brokers, shop.name) as producer:
                for number, one in enumerate(sequences):
                    if seq == 3 and number % 5 == 0:
                        producer.delete(one, seq)
                    else:
                        producer.send(one, seq, f"{one} {seq}")
            shop.wait_for(dict.fromkeys(sequences, seq), ["search"])
    return shop


def test_a_replay_changes_nothing(brokers, filled):
    store = Store()
    sink = Sink(brokers, filled.name, "search", get=store.get, put=store.put, batch_max=7)
    sink.run(until_idle_s=1)
    total = len(filled.read("output.search"))
    assert total == sink.counts.records == sink.counts.written + sink.counts.not_newer >= 150
    expected = {f"it-{i}": None if i % 5 == 0 else f"it-{i} 3".encode() for i in range(50)}
    assert {id: payload for id, (_, payload) in store.held.items()} == expected
    before, puts = dict(store.held), store.puts

    again = Sink(brokers, filled.name, "search", apply=store.apply, group=unique("again"))
    again.run(until_idle_s=1)
    assert (again.counts.records, again.counts.written, again.counts.not_newer) == (total, 0, total)
    assert (store.held, store.puts) == (before, puts)

    behind = Sink(brokers, filled.name, "search", get=store.get, put=store.put)
    behind.run(until_idle_s=1)
    assert behind.counts.records == 0  # its group had committed all


def test_what_failed_is_told_from_documents_until_something_newer_comes(brokers, application):
    shop = application(targets='[[target]]\nname = "search"\n')
    note = b'{"reason":"timed_out","attempts":3}'
    producer = Plain({"bootstrap.servers": brokers, "enable.idempotence": True})
    for id, version, op, payload in [("a", 1, "upsert", b"a"), ("a", 2, "failed", note), ("b", 3, "failed", note),
                                     ("b", 4, "upsert", b"b"), ("a", 1, "upsert", b"a"), ("b", 3, "failed", note)]:
        producer.produce(f"{shop.name}.output.search", payload, id, partition=0, headers={
            "reseq-seq": "1", "reseq-version": str(version), "reseq-op": op})
    assert producer.flush(30) == 0
    held, errors = {}, {}

    def put(change):
        held[change.id] = change.version
        errors[change.id] = change.error if change.failed else change.payload

    sink = Sink(brokers, shop.name, "search", get=held.get, put=put)
    sink.run(until_idle_s=1)
    assert (errors, held) == ({"a": "timed_out", "b": b"b"}, {"a": 2, "b": 4})
    assert (sink.counts.written, sink.counts.not_newer, sink.counts.rejected) == (4, 2, 0)


def test_what_could_not_be_stored_comes_again(brokers, filled):
    store, flushed = Store(), []

    def fail():
        flushed.append(dict(store.held))
        if len(flushed) == 2:
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        Sink(brokers, filled.name, "search", get=store.get, put=store.put, flush=fail, batch_max=20).run()
    store.held = flushed[0]  # what was not flushed is lost
    sink = Sink(brokers, filled.name, "search", get=store.get, put=store.put)
    sink.run(until_idle_s=1)
    assert sink.counts.records == len(filled.read("output.search")) - 20
    assert {id: version for id, (version, _) in store.held.items()} == {
        id: int(record.header("reseq-version")) for id, record in filled.newest("search").items()}


def test_what_is_outside_the_contract_is_passed_over_and_told(brokers, filled, caplog):
    topic = filled.topic("output.search")
    plain = Plain({"bootstrap.servers": brokers})
    plain.produce(topic, key="stranger", value="x", partition=0)
    assert plain.flush(60) == 0
    store = Store()
    running = InThread(Sink(brokers, filled.name, "search", get=store.get, put=store.put))
    with running as sink:
        wait_until(lambda: sink.counts.rejected == 1 and sink.counts.records == len(log_of(brokers, topic)), "all")
    assert len(store.held) == 50 and "stranger" not in store.held
    assert "no reseq-version" in caplog.text


def test_a_topic_that_is_not_there_is_told(brokers):
    with pytest.raises(NoSuchTopic):
        Sink(brokers, unique("nothing"), "search", apply=print)
