"""Requests on a real broker, and where they lie."""
import random

import pytest
from application import make_topic, unique, wait_until
from confluent_kafka import Producer as Plain
from resequencer import NoSuchTopic, NotDelivered, Producer, partition_of

IDS = 1000
ALPHABETS = range(0x20, 0x7F), range(0xC0, 0x250), range(0x4E00, 0x9FFF), range(0x1F300, 0x1F600)


def random_ids():
    """Texts of all alphabets, and bytes that are no text."""
    draw = random.Random(25)
    ids = set()
    while len(ids) < IDS:
        length = draw.randint(1, 40)
        if draw.random() < 0.3:
            ids.add(bytes(draw.choices(range(256), k=length)))
        else:
            ids.add("".join(map(chr, draw.choices(draw.choice(ALPHABETS), k=length))))
    return sorted(ids, key=repr)


def test_the_partition_of_an_id_is_where_the_resequencer_expects_it(brokers, application):
    shop = application(more="init.partitions = 7\n")
    ids = random_ids()
    with Producer(brokers, shop.name) as producer:
        assert producer.partitions == 7
        for one in ids:
            producer.send(one, 1, "x", partition=partition_of(one, producer.partitions))
    keys = {one if isinstance(one, bytes) else one.encode() for one in ids}
    wait_until(lambda: len(shop.read("work")) >= len(keys), "all of them on work")
    assert {record.key for record in shop.read("work")} == keys
    assert shop.read("dead-letter") == []
    # The check above can fail: one partition further is wrong.
    with Producer(brokers, shop.name) as producer:
        producer.send(ids[0], 2, "x", partition=(partition_of(ids[0], 7) + 1) % 7)
    letter, = wait_until(lambda: shop.read("dead-letter"), "the dead letter")
    assert letter.header("reseq-reason") == b"misrouted"


@pytest.mark.parametrize("name, librdkafka", [("murmur2", "murmur2_random"), ("crc32", "consistent_random")])
def test_partitions_are_those_of_librdkafka(brokers, name, librdkafka):
    topic = make_topic(brokers, unique("plain"), 7)
    producer, placed = Plain({"bootstrap.servers": brokers, "partitioner": librdkafka}), {}

    def on_delivery(_, record):
        placed[record.key()] = record.partition()

    for one in random_ids():
        producer.produce(topic, key=one, on_delivery=on_delivery)
    assert producer.flush(60) == 0
    assert len(placed) == IDS
    assert placed == {key: partition_of(key, 7, name) for key in placed}


def test_a_topic_that_is_not_there_is_told(brokers):
    with pytest.raises(NoSuchTopic, match="resequencer init"):
        Producer(brokers, unique("nothing"))


def test_what_is_not_in_the_log_is_told_by_id_and_sequence(brokers, application):
    shop = application()
    producer = Producer(brokers, shop.name, settings={"message.max.bytes": 2000})
    producer.send("large", 7, "x" * 3000)
    with pytest.raises(NotDelivered, match="1 records are not in the log: 'large' 7: MSG_SIZE_TOO_LARGE"):
        producer.flush()
    producer.send("small", 8, "x")
    producer.flush()
    record, = shop.read("requests")
    assert (record.id, record.header("reseq-seq")) == ("small", b"8")
