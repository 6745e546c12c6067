"""What this package uses of confluent-kafka, with types: the one file that imports it. What the contract needs is set
here, and settings of a caller that would break it are refused.

Thread rule: what librdkafka says: consumers by one thread, producers by any."""
from __future__ import annotations

import ctypes
from typing import Any, Callable, Dict, List, Mapping, Optional, Protocol, Sequence, Tuple

import confluent_kafka
from confluent_kafka.admin import AdminClient, ConfigResource

from .errors import NoSuchTopic
from .headers import Header

Settings = Mapping[str, Any]
KafkaException = confluent_kafka.KafkaException
KafkaError = confluent_kafka.KafkaError
TopicPartition = confluent_kafka.TopicPartition

# Of a topic that was just made, brokers may know nothing yet.
METADATA_LIMIT_S = 30.0

# librdkafka's own, and what it takes at most.
_BATCH_BYTES = 1_000_000
_RECORD_BYTES_MAX = 900_000_000

_PRODUCER: Dict[str, Any] = {"enable.idempotence": True}
_CONSUMER: Dict[str, Any] = {"isolation.level": "read_committed", "enable.auto.commit": False}
_ALSO: Dict[str, Any] = {"socket.nagle.disable": True}


class ErrorLike(Protocol):
    """confluent_kafka.KafkaError"""

    def code(self) -> int: ...
    def name(self) -> str: ...
    def fatal(self) -> bool: ...


class Record(Protocol):
    """confluent_kafka.Message. One with a null payload is false: compare with None."""

    def error(self) -> Optional[ErrorLike]: ...
    def topic(self) -> str: ...
    def partition(self) -> int: ...
    def offset(self) -> int: ...
    def key(self) -> Optional[bytes]: ...
    def value(self) -> Optional[bytes]: ...
    def headers(self) -> Optional[List[Header]]: ...
    def timestamp(self) -> Tuple[int, int]: ...  # kind, 0: it has none; milliseconds since 1970


class Place(Protocol):
    """confluent_kafka.TopicPartition"""

    topic: str
    partition: int
    offset: int
    error: Optional[ErrorLike]


class Consumer(Protocol):
    """confluent_kafka.Consumer"""

    def subscribe(self, topics: List[str], **listeners: Callable[[Any, List[Place]], None]) -> None: ...
    def assign(self, partitions: List[Place]) -> None: ...
    def assignment(self) -> List[Place]: ...
    def pause(self, partitions: List[Place]) -> None: ...
    def resume(self, partitions: List[Place]) -> None: ...
    def poll(self, timeout: float) -> Optional[Record]: ...
    def consume(self, num_messages: int, timeout: float) -> List[Record]: ...
    def commit(self, *, offsets: List[Place], asynchronous: bool) -> List[Place]: ...
    def list_topics(self, topic: str, timeout: float) -> Any: ...
    def get_watermark_offsets(self, partition: Place, timeout: float) -> Any: ...
    def close(self) -> None: ...


class Producer(Protocol):
    """confluent_kafka.Producer"""

    def produce(self, topic: str, value: Optional[bytes] = None, key: Optional[bytes] = None, **more: Any) -> None: ...
    def poll(self, timeout: float) -> int: ...
    def flush(self, timeout: float) -> int: ...
    def list_topics(self, topic: str, timeout: float) -> Any: ...
    def __len__(self) -> int: ...


def _merged(fixed: Settings, defaults: Settings, given: Optional[Settings]) -> Dict[str, Any]:
    own = dict(given or {})
    for name, value in fixed.items():
        if name in own and str(own[name]).lower() != str(value).lower():
            raise ValueError(f"{name} is {value} here, because the order of documents depends on it")
    return {**_ALSO, **defaults, **own, **fixed}


def sizes_of(brokers: str, topics: Sequence[str], given: Optional[Settings]) -> Settings:
    """Settings for producers to these topics: a batch that is larger than its topic takes is refused whole, however
    small its records are. Nothing where we may not ask (DescribeConfigs)."""
    admin = AdminClient(_merged({"bootstrap.servers": brokers}, {"log_level": 4}, given))  # warnings, no chatter
    asked = admin.describe_configs([ConfigResource(ConfigResource.Type.TOPIC, topic) for topic in topics],
                                   request_timeout=METADATA_LIMIT_S)
    try:
        least = min(int(one.result(METADATA_LIMIT_S)["max.message.bytes"].value) for one in asked.values())
    except (KafkaException, TimeoutError):
        return {}
    return {"batch.size": min(least, _BATCH_BYTES), "message.max.bytes": min(least, _RECORD_BYTES_MAX)}


def open_producer(brokers: str, partitioner: str, defaults: Settings, given: Optional[Settings]) -> Producer:
    """`partitioner`: librdkafka's word for it."""
    fixed = {"bootstrap.servers": brokers, "partitioner": partitioner, **_PRODUCER}
    producer: Producer = confluent_kafka.Producer(_merged(fixed, defaults, given))
    return producer


def open_consumer(brokers: str, group: str, given: Optional[Settings]) -> Consumer:
    """A member of the group once it subscribes."""
    fixed = {"bootstrap.servers": brokers, "group.id": group, **_CONSUMER}
    consumer: Consumer = confluent_kafka.Consumer(_merged(fixed, {"auto.offset.reset": "earliest"}, given))
    return consumer


def partitions_of(client: Any, topic: str) -> int:
    """How many it has. NoSuchTopic: none. KafkaException: nobody answers."""
    found = client.list_topics(topic, METADATA_LIMIT_S).topics.get(topic)
    if found is None or found.error is not None or not found.partitions:
        why = "" if found is None or found.error is None else f" ({found.error.name()})"
        raise NoSuchTopic(f"the topic {topic} is not there{why}. Those of an application are made by `resequencer "
                          "init`; one of yours, as for letters, has to be made before")
    return len(found.partitions)


def headers_of(record: Record) -> List[Header]:
    """To be asked once for each record. confluent-kafka 1.7 does not count the reference to None that a null value is,
    so it is counted here: otherwise None is freed some day, and the process ends. Once too often does no harm."""
    headers = record.headers() or []
    for _, value in headers:
        if value is None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(None))
    return headers


def error_of(exception: BaseException) -> ErrorLike:
    """What a KafkaException is about."""
    error: ErrorLike = exception.args[0]
    return error


def places(offsets: Sequence[tuple[str, int, int]]) -> List[Place]:
    """Of topic, partition, offset."""
    return [TopicPartition(*one) for one in offsets]
