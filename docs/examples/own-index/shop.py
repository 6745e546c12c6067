"""Articles of a shop, and the work that makes documents of them. RESEQ_BOOTSTRAP_SERVERS names a Kafka.

    python3 shop.py topics                  makes the two topics that are yours: what workers and sink could not use
    python3 shop.py put ID NUMBER ARTICLE   the article as it is after its change NUMBER
    python3 shop.py delete ID NUMBER        the article is deleted by its change NUMBER
    python3 shop.py work                    answers work in sixteen threads until SIGTERM; start several if you like
"""
import json
import os
import sys
import time

from confluent_kafka.admin import AdminClient, NewTopic
from resequencer import Producer, Work, Worker

BROKERS = os.environ["RESEQ_BOOTSTRAP_SERVERS"]


def topics() -> None:
    # Without it librdkafka's small requests wait up to 40 ms for each other.
    admin = AdminClient({"bootstrap.servers": BROKERS, "socket.nagle.disable": True})
    names = ["shop.letters", "shop.output.search.dead-letter"]
    for name, made in admin.create_topics([NewTopic(name, num_partitions=1) for name in names]).items():
        made.result()
        print("created", name)


def put(document_id: str, number: str, article: str) -> None:
    with Producer(BROKERS, "shop") as producer:
        producer.send(document_id, number, article)


def delete(document_id: str, number: str) -> None:
    with Producer(BROKERS, "shop") as producer:
        producer.delete(document_id, number)


def document_of(work: Work) -> str:
    print(work.id, work.sequence, "begins", flush=True)
    article = json.loads(work.payload or b"{}")
    time.sleep(article.pop("seconds", 0))  # a service that answers when it likes
    article["gross"] = round(article["price"] * 1.19, 2)
    print(work.id, work.sequence, "ends", flush=True)
    return json.dumps(article)


def work() -> None:
    Worker(BROKERS, "shop", document_of, on_error="skip", letters="shop.letters").run()


{"topics": topics, "put": put, "delete": delete, "work": work}[sys.argv[1]](*sys.argv[2:])
