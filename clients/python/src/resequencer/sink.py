"""Sink: takes of an output topic only what is newer than what a store holds. Then it does not matter what is delivered
twice or read again from the beginning.

Invariant: positions are committed when `flush` has returned, so nothing is lost that was not stored.
Thread rule: one thread; stop() from any."""
from __future__ import annotations

import json
import logging
import math
import threading
import time
from dataclasses import dataclass
from typing import Any, Callable, List, Optional, Tuple

from .confluent import (Consumer, KafkaException, Place, Record, Settings, error_of, headers_of, open_consumer,
                        partitions_of, places)
from .headers import Header, last, text
from .ids import text_of
from .signals import StopSignals

log = logging.getLogger("resequencer")

VERSION_LIMIT = 1 << 63
BATCH_MAX = 500
_WAIT_S = 0.2
_REJECTIONS_LOGGED = 20


@dataclass(frozen=True)
class Change:
    """What a target shall hold of one document."""

    key: bytes
    payload: Optional[bytes]  # None if and only if it is deleted; of what failed a note, no document
    version: int
    headers: Tuple[Header, ...]

    @property
    def id(self) -> str:
        """The id as text; what is not UTF-8 in it is kept (surrogateescape)."""
        return text_of(self.key)

    @property
    def deleted(self) -> bool:
        return self.payload is None

    @property
    def failed(self) -> bool:
        """It was given up, and this is a marker in its place: why is `error`, and more is in the payload, as JSON."""
        return last(self.headers, "reseq-op") == b"failed"

    @property
    def error(self) -> Optional[str]:
        """Why it failed: what was said, or the reason where nobody said an error; None: it did not."""
        if not self.failed:
            return None
        said = last(self.headers, "reseq-error")
        return said.decode(errors="replace") if said else _reason_of(self.payload)

    @property
    def sequence(self) -> str:
        return text(self.headers, "reseq-seq") or ""


def _reason_of(note: Optional[bytes]) -> str:
    try:
        reason = json.loads(note or b"")["reason"]
    except (ValueError, LookupError, TypeError, RecursionError):
        reason = None
    return reason if isinstance(reason, str) and reason else "failed"


def change_of(key: Optional[bytes], payload: Optional[bytes], headers: List[Header]) -> Change:
    """ValueError: it is none, and why. A delete is said by reseq-op, or by a null payload; a marker by reseq-op."""
    if not key:
        raise ValueError("no key")
    digits = last(headers, "reseq-version")
    if digits is None:
        raise ValueError("no reseq-version")
    version = int(digits) if digits.isdigit() and len(digits) < 20 else 0
    if not 0 < version < VERSION_LIMIT:
        raise ValueError("reseq-version is not a number between 1 and 2^63 - 1")
    op = last(headers, "reseq-op")
    if op not in (None, b"upsert", b"delete", b"failed"):
        raise ValueError("reseq-op is neither upsert nor delete")
    if op == b"upsert" and payload is None:
        raise ValueError("upsert with a null payload")
    if op == b"failed" and payload is None:
        raise ValueError("failed with a null payload")
    return Change(key, None if op == b"delete" else payload, version, tuple(headers))


@dataclass
class SinkCounts:
    """Since the sink began."""

    records: int = 0  # read
    written: int = 0  # given to the store; with `apply`: of those that it took
    not_newer: int = 0  # replays and older versions
    rejected: int = 0  # outside the wire contract
    not_committed: int = 0  # commits that failed; the same records come again


class Sink:
    """Either two functions: `get(id)` answers the version that the store holds, also of a deleted document, None or 0
    if it knows none; `put(change)` stores a change together with its version. Or one: `apply(change)` of a store that
    compares by itself, in one step; False: it had the version, or a newer one.

    `get` and `put` are two steps. Where an instance that was paused could wake up between them, and another one has its
    partition by then, an `apply` is needed: INSERT ... ON CONFLICT ... WHERE version < excluded.version, or
    version_type=external.

    flush     is called before positions are committed: for a store that writes later
    group     default: <application>.sink.<target>
    topic     default: <application>.output.<target>
    settings  of librdkafka: what your brokers ask for
    """

    def __init__(self, brokers: str, application: str, target: str, *,
                 get: Optional[Callable[[str], Optional[int]]] = None, put: Optional[Callable[[Change], Any]] = None,
                 apply: Optional[Callable[[Change], Optional[bool]]] = None,
                 flush: Optional[Callable[[], Any]] = None, group: Optional[str] = None, topic: Optional[str] = None,
                 batch_max: int = BATCH_MAX, settings: Optional[Settings] = None) -> None:
        if (get is None) != (put is None) or (get is None) == (apply is None):
            raise ValueError("a sink needs get and put, or apply alone")
        self.counts = SinkCounts()
        self._get, self._put, self._apply, self._flush = get, put, apply, flush
        self._batch_max = batch_max
        self._topic = topic or f"{application}.output.{target}"
        self._consumer: Consumer = open_consumer(brokers, group or f"{application}.sink.{target}", settings)
        partitions_of(self._consumer, self._topic)
        self._stopping = threading.Event()
        self._idle_since = math.inf

    def run(self, *, until_idle_s: Optional[float] = None) -> None:
        """Takes changes until stop(), SIGTERM or SIGINT, or until none has come for so long since it got partitions.
        What `get`, `put`, `apply` and `flush` raise ends it; that batch is not committed and comes again. Once only."""
        with StopSignals(self.stop):
            try:
                self._consumer.subscribe([self._topic], on_assign=self._on_assign)
                while not self._stopping.is_set():
                    records = self._consumer.consume(self._batch_max, _WAIT_S)
                    if records:
                        self._take_batch(records)
                        self._idle_since = time.monotonic()
                    elif until_idle_s is not None and time.monotonic() - self._idle_since >= until_idle_s:
                        return
            finally:
                self._consumer.close()

    def stop(self) -> None:
        """Ends run() behind the batch that is being taken."""
        self._stopping.set()

    def take(self, change: Change) -> bool:
        """Stores a change if it is newer; whether it was."""
        if self._apply is not None:
            newer = self._apply(change) is not False
        else:
            assert self._get is not None and self._put is not None
            newer = change.version > (self._get(change.id) or 0)
            if newer:
                self._put(change)
        if newer:
            self.counts.written += 1
        else:
            self.counts.not_newer += 1
        return newer

    def _on_assign(self, _: Any, partitions: List[Place]) -> None:
        self._idle_since = time.monotonic()

    def _take_batch(self, records: List[Record]) -> None:
        moved = {}
        for record in records:
            error = record.error()
            if error is not None:
                log.warning("consumer: %s", error)
                if error.fatal():
                    raise KafkaException(error)
                continue
            self._take_record(record)
            moved[record.topic(), record.partition()] = record.offset() + 1
        if self._flush is not None:
            self._flush()
        if moved:
            self._commit(places([(*partition, offset) for partition, offset in moved.items()]))

    def _take_record(self, record: Record) -> None:
        self.counts.records += 1
        try:
            change = change_of(record.key(), record.value(), headers_of(record))
        except ValueError as why:
            self.counts.rejected += 1
            if self.counts.rejected <= _REJECTIONS_LOGGED:
                log.error("rejected: %s[%d]@%d: %s", record.topic(), record.partition(), record.offset(), why)
            return
        self.take(change)

    def _commit(self, offsets: List[Place]) -> None:
        """One that fails loses nothing: the same changes come again, here or elsewhere, and are not newer then."""
        try:
            self._consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:
            self.counts.not_committed += 1
            log.warning("not committed: %s", error_of(error).name())
