"""The pipeline of the tutorial, whole: changes of orders, a service that is asked about each, a catalogue. BROKERS
names a Kafka; a resequencer runs with orders.toml.

    python3 pipeline.py orders       changes 100 orders five times each
    python3 pipeline.py enrich       answers work in sixteen threads until SIGTERM; start several if you like
    python3 pipeline.py catalogue    takes results until none has come for five seconds, says how many are the newest
"""
import json
import os
import random
import shelve
import sys
import time

from resequencer import Producer, Sink, Work, Worker

BROKERS = os.environ["BROKERS"]


def orders() -> None:
    with Producer(BROKERS, "orders") as producer:
        for number, version in ((number, version) for number in range(1, 101) for version in range(1, 6)):
            producer.send(f"order-{number}", version, json.dumps({"version": version, "price": 10 * version}))


def enrich(work: Work) -> str:
    order = json.loads(work.payload or b"{}")
    time.sleep(random.uniform(0, 0.1))  # a service that answers when it likes
    return json.dumps({**order, "tax": order["price"] * 0.19})


def catalogue() -> None:
    with shelve.open("catalogue") as held:  # by order: version and payload
        Sink(BROKERS, "orders", "enriched", get=lambda order: held.get(order, (0, None))[0],
             put=lambda change: held.update({change.id: (change.version, change.payload)}),
             flush=held.sync).run(until_idle_s=5)
        right = sum(json.loads(payload)["version"] == 5 for _, payload in held.values())
        print(f"catalogue: {right} orders right, {100 - right} wrong")


{"orders": orders, "enrich": lambda: Worker(BROKERS, "orders", enrich).run(), "catalogue": catalogue}[sys.argv[1]]()
