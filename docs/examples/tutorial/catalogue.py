"""Your sink: the last result of an order that comes is what the catalogue holds (catalogue.json). Ends when every order
is as orders.py sent it last, or when nothing has come for 20 seconds."""
import json
import os
from pathlib import Path

from confluent_kafka import Consumer

CATALOGUE = Path("catalogue.json")
catalogue = json.loads(CATALOGUE.read_text()) if CATALOGUE.exists() else {}
newest = json.loads(Path("orders.json").read_text())
consumer = Consumer({"bootstrap.servers": os.environ["BROKERS"], "group.id": "catalogue",
                     "auto.offset.reset": "earliest", "enable.auto.commit": False, "socket.nagle.disable": True})


def wrong_orders():
    return [order for order, version in newest.items() if catalogue.get(order, {}).get("version") != version]


print("waiting for results ...", flush=True)
consumer.subscribe(["orders.enriched"])
while wrong_orders():
    record = consumer.poll(20)
    if record is None:
        break
    if record.error() is None:
        catalogue[record.key().decode()] = json.loads(record.value())
        consumer.commit(record)
consumer.close()
CATALOGUE.write_text(json.dumps(catalogue))
wrong = len(wrong_orders())
print(f"catalogue: {len(newest) - wrong} orders right, {wrong} wrong")
