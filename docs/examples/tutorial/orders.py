"""Your source: changes 100 orders five times each. What it sent last is noted in orders.json."""
import json
import os
from pathlib import Path

from confluent_kafka import Producer

NOTES = Path("orders.json")
newest = json.loads(NOTES.read_text()) if NOTES.exists() else {}
producer = Producer({"bootstrap.servers": os.environ["BROKERS"], "socket.nagle.disable": True})
for number in range(1, 101):
    order = f"order-{number}"
    for _ in range(5):
        version = newest.get(order, 0) + 1
        newest[order] = version
        value = json.dumps({"version": version, "price": 10 * version})
        producer.produce("orders.in", key=order, value=value)
producer.flush()
NOTES.write_text(json.dumps(newest))
print("sent 500 changes of 100 orders")
