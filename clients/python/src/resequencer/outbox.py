"""Outbox: sends records until they are in the log. Only what a broker acknowledges with an offset is: a broker that has
just begun to lead a partition may refuse the first request of a producer, and librdkafka then reports it as written,
without an offset. It is sent again.

Invariant: for each record `told` is called once, in poll() or flush(), or in send() when the record can never be sent.
Thread rule: any thread; `told` is called by whoever polls."""
from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import Callable, Deque, List, Optional, Tuple

from .confluent import ErrorLike, KafkaException, Producer, Record, error_of
from .headers import Header

QUEUE_FULL_WAIT_S = 0.05
_SLICE_S = 0.1


@dataclass(frozen=True)
class Outgoing:
    """A record for a topic. The partition follows from the key, unless it is said."""

    topic: str
    key: bytes
    payload: Optional[bytes]
    headers: List[Header]
    partition: int = -1


Told = Callable[[Optional[ErrorLike]], None]  # None: it is in the log


class Outbox:
    def __init__(self, producer: Producer) -> None:
        self._producer = producer
        self._again: Deque[Tuple[Outgoing, Told]] = deque()
        self._lock = threading.Lock()
        self._open = 0

    @property
    def open(self) -> int:
        """Records that nothing was told of yet."""
        return self._open

    def send(self, record: Outgoing, told: Told) -> None:
        """Waits while the queue of the producer is full."""
        with self._lock:
            self._open += 1
        self._produce(record, told)

    def poll(self, timeout_s: float) -> None:
        while self._again:
            self._produce(*self._again.popleft())
        self._producer.poll(timeout_s)

    def flush(self, timeout_s: float) -> int:
        """Waits until all is told of, up to a limit; how many are left."""
        until = time.monotonic() + timeout_s
        while self._open > 0 and (left := until - time.monotonic()) > 0:
            self.poll(min(left, _SLICE_S))
        return self._open

    def _produce(self, record: Outgoing, told: Told) -> None:
        while True:
            try:
                self._producer.produce(record.topic, record.payload, record.key, headers=record.headers,
                                       partition=record.partition, on_delivery=partial(self._delivered, record, told))
                return
            except BufferError:  # the queue is full
                self._producer.poll(QUEUE_FULL_WAIT_S)
            except KafkaException as error:  # too large for this client, say
                self._tell(told, error_of(error))
                return

    def _delivered(self, record: Outgoing, told: Told, error: Optional[ErrorLike], message: Record) -> None:
        if error is None and message.offset() < 0:
            self._again.append((record, told))
        else:
            self._tell(told, error)

    def _tell(self, told: Told, error: Optional[ErrorLike]) -> None:
        with self._lock:
            self._open -= 1
        told(error)
