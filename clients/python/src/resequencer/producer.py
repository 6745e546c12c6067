"""Producer: numbers the changes of documents, which is all that a producer has to do.

Thread rule: any thread."""
from __future__ import annotations

import threading
from datetime import datetime, timedelta, timezone
from functools import partial
from types import TracebackType
from typing import Iterable, List, Literal, Optional, Type, TypedDict, Union

from .confluent import ErrorLike, Settings, open_producer, partitions_of, sizes_of
from .errors import NotDelivered
from .headers import GivenHeaders, Header, given, replaced
from .ids import Id, bytes_of, text_of
from .outbox import Outbox, Outgoing
from .partition import Partitioner, librdkafka_name_of

Op = Literal["upsert", "delete"]
Sequence = Union[int, str, bytes]
# Milliseconds since 1970, a date with a zone, or text as RFC 3339 has it.
Date = Union[int, str, datetime]

# Of records that could not be delivered so many are named in the error.
NAMED_MAX = 10
_FLUSH_SLICE_S = 1.0
_FLUSH_AFTER_ERROR_S = 5.0


class Tag(TypedDict):
    """What makes a record of yours a request: arguments of confluent_kafka.Producer.produce()."""

    key: bytes
    headers: List[Header]


def sequence_bytes(seq: Sequence) -> bytes:
    """As the header has it. A float would lose digits, and True is no number of a change."""
    if isinstance(seq, bytes):
        value = seq
    elif isinstance(seq, (int, str)) and not isinstance(seq, bool):
        value = str(seq).encode()
    else:
        raise TypeError(f"a sequence is an int, or text or bytes, not {type(seq).__name__}")
    if not value:
        raise ValueError("a sequence must not be empty")
    return value


def date_bytes(name: str, date: Date) -> bytes:
    """As the header has it; what is below a millisecond is cut off."""
    if isinstance(date, datetime):
        if date.tzinfo is None:
            raise ValueError(f"{name}: a date needs a zone, {date!r} has none")
        return str((date - datetime.fromtimestamp(0, timezone.utc)) // timedelta(milliseconds=1)).encode()
    if isinstance(date, bool) or not isinstance(date, (int, str)):
        raise TypeError(f"{name} is milliseconds since 1970, a datetime or text, not {type(date).__name__}")
    return str(date).encode()


def priority_bytes(priority: int) -> bytes:
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise TypeError(f"priority is an int, not {type(priority).__name__}")
    if not 0 <= priority <= 255:
        raise ValueError(f"priority is 0 to 255, the smallest first, not {priority}")
    return str(priority).encode()


class Producer:
    """Sends requests of an application. As a context manager it waits at the end until all are in the log.

    `topic`: another one than <application>.requests. `partitioner`: as the application is configured. `settings`: of
    librdkafka, what your brokers ask for."""

    def __init__(self, brokers: str, application: str, *, topic: Optional[str] = None,
                 partitioner: Partitioner = "murmur2", settings: Optional[Settings] = None) -> None:
        self._topic = topic or f"{application}.requests"
        name = librdkafka_name_of(partitioner)
        producer = open_producer(brokers, name, sizes_of(brokers, [self._topic], settings), settings)
        self._partitions = partitions_of(producer, self._topic)
        self._outbox = Outbox(producer)
        self._lock = threading.Lock()
        self._failed = 0
        self._failures: List[str] = []

    @property
    def partitions(self) -> int:
        """Of the topic, for partition_of()."""
        return self._partitions

    @staticmethod
    def tag(document_id: Id, seq: Sequence, *, op: Optional[Op] = None, targets: Optional[Iterable[str]] = None,
            epoch: Optional[int] = None, reprocess: bool = False, priority: Optional[int] = None,
            process_at: Optional[Date] = None, expires_at: Optional[Date] = None, headers: GivenHeaders = ()) -> Tag:
        """For a producer of your own: `mine.produce(topic, value=payload, **Producer.tag("order-6", 17))`.

        `seq` rises with every change of this document. `targets`: who has to get it; otherwise the routes of the
        configuration decide. `epoch`: in front of the sequence, raised when your numbers start again. `reprocess`: this
        sequence once more. `headers`: yours, which travel on.

        With a journal (`dispatch.mode = "journal"`, otherwise they are refused): `priority`: the smallest goes first.
        `process_at`: not before that. `expires_at`: nobody wants it any more from then on; not for deletions."""
        own: List[Header] = [("reseq-seq", sequence_bytes(seq))]
        if epoch is not None:
            own.append(("reseq-epoch", str(epoch).encode()))
        if op is not None:
            own.append(("reseq-op", op.encode()))
        if targets is not None:
            names = [targets] if isinstance(targets, str) else list(targets)
            if not names:
                raise ValueError("targets: name one at least, or leave it to the routes with None")
            own.append(("reseq-targets", ",".join(names).encode()))
        if reprocess:
            own.append(("reseq-reprocess", b"true"))
        if priority is not None:
            own.append(("reseq-priority", priority_bytes(priority)))
        if process_at is not None:
            own.append(("reseq-process-at", date_bytes("process_at", process_at)))
        if expires_at is not None:
            if op == "delete":
                raise ValueError("expires_at: a deletion does not expire, because the document would stay for ever")
            own.append(("reseq-expires-at", date_bytes("expires_at", expires_at)))
        return {"key": bytes_of(document_id), "headers": replaced(given(headers), own)}

    def send(self, document_id: Id, seq: Sequence, payload: Union[str, bytes], *, op: Optional[Op] = None,
             targets: Optional[Iterable[str]] = None, epoch: Optional[int] = None, reprocess: bool = False,
             priority: Optional[int] = None, process_at: Optional[Date] = None, expires_at: Optional[Date] = None,
             headers: GivenHeaders = (), partition: int = -1) -> None:
        """Adds or updates a document; see tag(). Text is sent as UTF-8. An empty payload is one: delete() deletes.

        NotDelivered: records that were sent before are not in the log."""
        if payload is None:
            raise TypeError("a payload is text or bytes; delete() deletes a document")
        tag = self.tag(document_id, seq, op=op, targets=targets, epoch=epoch, reprocess=reprocess, priority=priority,
                       process_at=process_at, expires_at=expires_at, headers=headers)
        self._send(tag, payload.encode() if isinstance(payload, str) else payload, partition)

    def delete(self, document_id: Id, seq: Sequence, payload: Optional[bytes] = None, *,
               targets: Optional[Iterable[str]] = None, epoch: Optional[int] = None,
               priority: Optional[int] = None, process_at: Optional[Date] = None, headers: GivenHeaders = (),
               partition: int = -1) -> None:
        """Deletes a document, and says so: that is understood with either value of `deletes`."""
        tag = self.tag(document_id, seq, op="delete", targets=targets, epoch=epoch, priority=priority,
                       process_at=process_at, headers=headers)
        self._send(tag, payload, partition)

    def flush(self, timeout_s: Optional[float] = None) -> None:
        """Waits until all that was sent is in the log. NotDelivered: something is not, or not within the limit."""
        if timeout_s is not None:
            self._outbox.flush(timeout_s)
        else:
            while self._outbox.flush(_FLUSH_SLICE_S) > 0 and not self._failed:
                pass
        self._raise_failures()
        if self._outbox.open > 0:
            raise NotDelivered(f"{self._outbox.open} records are not in the log after {timeout_s} s")

    def __enter__(self) -> "Producer":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if kind is None:
            self.flush()
        else:
            self._outbox.flush(_FLUSH_AFTER_ERROR_S)

    def _send(self, tag: Tag, payload: Optional[bytes], partition: int) -> None:
        self._raise_failures()
        self._outbox.send(Outgoing(self._topic, tag["key"], payload, tag["headers"], partition),
                          partial(self._told, tag))
        self._outbox.poll(0)

    def _told(self, tag: Tag, error: Optional[ErrorLike]) -> None:
        if error is None:
            return
        seq = dict(tag["headers"])["reseq-seq"] or b""
        with self._lock:
            self._failed += 1
            if len(self._failures) < NAMED_MAX:
                self._failures.append(f"{text_of(tag['key'])!r} {seq.decode(errors='replace')}: {error.name()}")

    def _raise_failures(self) -> None:
        with self._lock:
            failed, failures = self._failed, self._failures
            self._failed, self._failures = 0, []
        if failed:
            more = f" and {failed - len(failures)} more" if failed > len(failures) else ""
            raise NotDelivered(f"{failed} records are not in the log: {', '.join(failures)}{more}")
