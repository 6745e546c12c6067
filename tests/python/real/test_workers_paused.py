"""Workers as processes: paused for longer than their session."""
import signal

import pytest
from application import SESSION, wait_until
from resequencer import Producer


@pytest.mark.parametrize("coroutines", [False, True])
def test_of_partitions_that_were_lost_in_a_pause_nothing_is_sent(application, process, tmp_path, coroutines):
    shop = application()
    gate = tmp_path / "gate"
    paused = process(shop, parallel=1, gate=str(gate), consumer_settings=SESSION, coroutines=coroutines)
    with Producer(shop.brokers, shop.name) as producer:
        producer.send("first", 1, "{}")
        producer.send("second", 1, "{}")
    wait_until(paused.begun, "some work")
    paused.signal(signal.SIGSTOP)
    other = process(shop, consumer_settings=SESSION, commit_every_s=0.1)
    other.wait_for("assigned: 1 partitions")
    shop.wait_for({"first": 1, "second": 1})
    wait_until(lambda: shop.committed() == {0: shop.read("work")[-1].offset + 1}, "all of it committed")
    paused.signal(signal.SIGCONT)
    paused.wait_for("lost: 1 partitions")
    gate.touch()
    other.signal(signal.SIGTERM)
    assert other.ended() == 0
    with Producer(shop.brokers, shop.name) as producer:
        producer.send("third", 1, "{}")
    shop.wait_for({"third": 1})  # it has joined again
    paused.signal(signal.SIGTERM)
    assert paused.ended() == 0
    assert sorted(record.id for record in shop.read("commands")) == sorted(2 * ["first", "second", "third"])
    assert "results=2, " in paused.log.read_text() and "left=0" not in paused.log.read_text()
