"""Workers as processes: slower than their session."""
import json
import signal

from application import SESSION, SESSION_S
from resequencer import Producer


def test_a_function_that_is_slower_than_the_session_keeps_its_partitions(application, process):
    shop = application()
    worker = process(shop, consumer_settings={**SESSION, "max.poll.interval.ms": 7000})
    with Producer(shop.brokers, shop.name) as producer:
        producer.send("slow", 1, json.dumps({"takes_s": SESSION_S + 3}))
    shop.wait_for({"slow": 1})
    assert not worker.says("lost: ") and not worker.says("revoked: ")
    worker.signal(signal.SIGTERM)
    assert worker.ended() == 0
    assert [record.id for record in shop.read("commands")] == ["slow", "slow"]
