"""Your pipeline: takes changes in batches, enriches them in sixteen threads, writes the results. Start several if you
like. What is not committed when it ends is done again."""
import json
import os
import random
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from confluent_kafka import Consumer, Producer

BROKERS = os.environ["BROKERS"]
consumer = Consumer({"bootstrap.servers": BROKERS, "group.id": "pipeline", "auto.offset.reset": "earliest",
                     "enable.auto.commit": False, "socket.nagle.disable": True})
producer = Producer({"bootstrap.servers": BROKERS, "socket.nagle.disable": True})


def enrich(record):
    order = json.loads(record.value())
    time.sleep(random.uniform(0, 0.1))  # a service that answers when it likes
    order["tax"] = order["price"] * 0.19
    result = json.dumps(order)
    producer.produce("orders.enriched", key=record.key(), value=result)


signal.signal(signal.SIGTERM, lambda *_: sys.exit())
consumer.subscribe(["orders.in"])
try:
    with ThreadPoolExecutor(16) as threads:
        while True:
            batch = [record for record in consumer.consume(200, timeout=0.5) if not record.error()]
            list(threads.map(enrich, batch))
            producer.flush()
            if batch:
                consumer.commit(asynchronous=False)
finally:
    consumer.close()
