"""What you have already: two topics with names and partition counts of their own."""
import os

from confluent_kafka.admin import AdminClient, NewTopic

admin = AdminClient({"bootstrap.servers": os.environ["BROKERS"], "socket.nagle.disable": True})
settings = {"retention.ms": "604800000", "max.message.bytes": "1048588"}  # Kafka's defaults
topics = [NewTopic("orders.in", num_partitions=6, replication_factor=1, config=settings),
          NewTopic("orders.enriched", num_partitions=3, replication_factor=1, config=settings)]
for name, created in admin.create_topics(topics).items():
    created.result()
    print("created", name)
