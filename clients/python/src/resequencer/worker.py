"""Worker: reads `work` as a member of a group, lets a function answer each record, in threads or as coroutines, and
sends the answers to `commands`.

Invariants:
- An offset is committed when everything before it is finished: answered, and all that was sent for it is in the log.
- Of a partition that was revoked or lost nothing is sent and nothing committed any more: others have it.
- Of work whose lease is lost nothing is sent either: its function is told before others get it.
- Polling never stops, however long the function takes, so the membership is kept. Records that are held are bounded by
  their number and bytes; then reading pauses.
- No answer of the function deletes a document unless it says DELETE.

Thread rule: one thread does all that concerns Kafka; the function runs in others. stop() from any."""
from __future__ import annotations

import asyncio
import inspect
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Iterable, List, Literal, Optional, Sequence, Set, Tuple, Type, Union, get_args

from .confluent import (Consumer, ErrorLike, KafkaError, KafkaException, Place, Record, Settings, error_of,
                        headers_of, open_consumer, open_producer, partitions_of, places, sizes_of)
from .crews import AsyncFunction, Coroutines, Crew, Function, LeftAlone, Retry, Task, Threads
from .errors import WorkFailed
from .failures import Failures, commands_of_failure, failure_of, table_of
from .headers import Header, last, text
from .leases import Lease, heartbeat_headers, lease_of, now_ms
from .outbox import Outbox, Outgoing
from .partition import Partitioner, librdkafka_name_of
from .shares import Share, Shares
from .signals import StopSignals
from .work import Command, Work, deletion_of

log = logging.getLogger("resequencer")

OnError = Literal["stop", "skip", "unregister", "fail"]
CommitWhen = Literal["work", "receipt"]

HELD_MAX = 256
HELD_BYTES_MAX = 64 * 1024 * 1024
ERROR_TEXT_MAX = 1000
# Results wait in a queue without a limit of time and of bytes: what is held bounds them.
_PRODUCER = {"message.timeout.ms": 0, "queue.buffering.max.kbytes": 2147483647}
_TICK_S, _IDLE_S = 0.02, 0.2
# Leases are looked after so often; they are a second long at least.
_LEASES_EVERY_S = 0.02
# A right that is missing does not come by itself.
_DENIED = ("TOPIC_AUTHORIZATION_FAILED", "GROUP_AUTHORIZATION_FAILED", "CLUSTER_AUTHORIZATION_FAILED")


@dataclass
class Counts:
    """Since the worker began."""

    records: int = 0  # read
    passed_over: int = 0  # for other targets
    results: int = 0  # commands that are in the log
    failed: int = 0  # records whose function raised, or whose result is too large
    lost: int = 0  # records whose lease was lost
    lease_over: int = 0  # records that others had already when they were read
    left: int = 0  # records whose partition went elsewhere, or that had not begun at the end
    not_committed: int = 0  # commits that failed; nothing is lost by that
    held_most: int = 0  # records that were held at once, at most
    held_bytes_most: int = 0


class Worker:
    """`function` takes a Work and answers it, see Answer: a function for run(), a coroutine function for run_async().

    targets      those that the function answers for; work for others is passed over. Default: those that a record names
    parallel     how many records are worked on at once
    deletions    the function is called for deletions as well; otherwise they are answered without it
    on_error     when the function raises, or its answer cannot be sent:
                 "stop"        the worker ends in order, with WorkFailed; the record comes again at the next start
                 "skip"        it is told of, and finished: the document goes on waiting, and becomes overdue
                 "unregister"  it is told of, and the resequencer does not wait for it any more
                 "fail"        it is told of, and said to the resequencer, which sends it again later, or gives it up:
                               needs failures.mode = "retry"
    failures     with "fail": what exceptions mean that are none of Transient, Permanent and Universal; the nearest
                 class of an exception counts. What is neither there nor in `retry` is of an unknown kind
    letters      but with "stop": a topic of yours that gets what happened, with the place of the record
    commit       when the offset of a record is committed:
                 "work"     behind it: answered, and all of it in the log
                 "receipt"  before its function is called: only its lease gives it back, so a record without one is
                            refused (`dispatch.mode = "journal"` gives leases)
    retry        exceptions that pass by themselves: tried again after `retry_after_s` seconds, without end; with "fail"
                 they are transient failures, and nothing is tried again here
    partitioner  as the application is configured
    group        default: <application>.workers; workers that do different work need different ones
    settings     of librdkafka, for all clients: what your brokers ask for; consumer_settings: for the reader alone
    """

    def __init__(self, brokers: str, application: str, function: Union[Function, AsyncFunction], *,
                 targets: Optional[Iterable[str]] = None, parallel: int = 16, deletions: bool = False,
                 on_error: OnError = "stop", failures: Optional[Failures] = None, letters: Optional[str] = None,
                 commit: CommitWhen = "work",
                 retry: Tuple[Type[BaseException], ...] = (OSError,), retry_after_s: float = 1.0,
                 partitioner: Partitioner = "murmur2", group: Optional[str] = None, work_topic: Optional[str] = None,
                 commands_topic: Optional[str] = None, held_max: Optional[int] = None,
                 held_bytes_max: int = HELD_BYTES_MAX, commit_every_s: float = 1.0, stop_within_s: float = 30.0,
                 settings: Optional[Settings] = None, consumer_settings: Optional[Settings] = None) -> None:
        if on_error not in get_args(OnError):
            raise ValueError(f"on_error is one of {', '.join(get_args(OnError))}, not {on_error!r}")
        if letters is not None and on_error == "stop":
            raise ValueError('letters are not for on_error="stop": a worker that stops writes none')
        if failures is not None and on_error != "fail":
            raise ValueError('failures are for on_error="fail"')
        if commit not in get_args(CommitWhen):
            raise ValueError(f"commit is one of {', '.join(get_args(CommitWhen))}, not {commit!r}")
        if isinstance(targets, str):
            raise TypeError("targets are several: a list or a tuple of names")
        if parallel < 1:
            raise ValueError(f"parallel is at least 1, not {parallel}")
        self.counts = Counts()
        self._function = function
        self._targets = None if targets is None else tuple(targets)
        self._parallel = parallel
        self._deletions = deletions
        self._on_error, self._letters = on_error, letters
        self._failures = table_of(failures, retry)
        self._retry = Retry(() if on_error == "fail" else retry, retry_after_s)
        self._work_topic = work_topic or f"{application}.work"
        self._commands_topic = commands_topic or f"{application}.commands"
        self._on_receipt = commit == "receipt"
        # On receipt what waits here is given back by its lease alone, so nothing does.
        self._held_max = held_max or (parallel if self._on_receipt else max(HELD_MAX, 2 * parallel))
        self._held_bytes_max = held_bytes_max
        self._commit_every_s, self._stop_within_s = commit_every_s, stop_within_s
        outgoing = [self._commands_topic] if letters is None else [self._commands_topic, letters]
        name = librdkafka_name_of(partitioner)
        producer = open_producer(brokers, name, {**_PRODUCER, **sizes_of(brokers, outgoing, settings)}, settings)
        for topic in (self._work_topic, *outgoing):
            partitions_of(producer, topic)
        self._outbox = Outbox(producer)
        self._consumer: Consumer = open_consumer(brokers, group or f"{application}.workers",
                                                 {**(settings or {}), **(consumer_settings or {})})
        self._crew: Crew
        self._shares = Shares()
        self._held = self._held_bytes = 0
        self._received: List[Task] = []  # on receipt: not committed yet
        self._leased: Set[Task] = set()
        self._leases_at = 0.0
        self._paused = self._has_paused = self._assigned = False
        self._stopping = threading.Event()
        self._failure: Optional[BaseException] = None
        self._commit_at = 0.0

    def run(self) -> None:
        """Works until stop(), SIGTERM or SIGINT. WorkFailed, KafkaException: it cannot go on."""
        if inspect.iscoroutinefunction(self._function):
            raise TypeError("the function is a coroutine function: await run_async()")
        self._crew = Threads(self._function, self._parallel, self._retry)  # type: ignore[arg-type]
        with StopSignals(self.stop):
            self._work()

    async def run_async(self) -> None:
        """The same for a coroutine function, which runs on the loop of the caller."""
        if not inspect.iscoroutinefunction(self._function):
            raise TypeError("the function is no coroutine function: run() runs it in threads")
        loop = asyncio.get_running_loop()
        self._crew = Coroutines(self._function, self._parallel, self._retry, loop)
        with ThreadPoolExecutor(1, "resequencer") as thread, StopSignals(self.stop):
            working = loop.run_in_executor(thread, self._work)
            try:
                await asyncio.shield(working)
            except asyncio.CancelledError:
                self.stop()
                await working
                raise

    def stop(self) -> None:
        """No more is begun; what has begun is finished and committed, within `stop_within_s` seconds."""
        self._stopping.set()

    # The rest is done by one thread.

    def _work(self) -> None:
        try:
            self._consumer.subscribe([self._work_topic], on_assign=self._on_assign, on_revoke=self._on_revoke,
                                     on_lost=self._on_lost)
            while not self._stopping.is_set() and self._failure is None:
                self._step()
            self._drain()
        finally:
            self._crew.close()
            self._consumer.close()  # which commits: _on_revoke()
        if self._failure is not None:
            raise self._failure

    def _step(self) -> None:
        self._pause_or_resume()
        record = self._consumer.poll(_TICK_S if self._held > 0 else _IDLE_S)
        if record is not None:
            self._take(record)
        self._serve()
        if time.monotonic() >= self._commit_at:
            self._commit()
        if self._received:
            self._commit()
            self._begin_received()

    def _drain(self) -> None:
        """What has begun is finished, as long as the limit allows."""
        until = time.monotonic() + self._stop_within_s
        self._stopping.set()
        self._crew.leave()
        for task in self._received:
            self.counts.left += 1
            self._let_go(task)
        self._received.clear()
        while self._held > 0 and time.monotonic() < until:
            self._pause_or_resume()
            self._consumer.poll(_TICK_S)  # paused: for the membership
            self._serve()
        if self._held > 0:
            log.warning("not finished in %.1f s: %d records, which come again", self._stop_within_s, self._held)
        self._commit()

    def _pause_or_resume(self) -> None:
        """Polling never stops: whoever does not poll is put out of the group."""
        share = 0.5 if self._paused else 1.0  # goes on at half of it
        full = self._held >= self._held_max * share or self._held_bytes >= self._held_bytes_max * share
        full = full or self._stopping.is_set()
        self._has_paused = self._has_paused or full
        # A partition that went away while it was paused may still be when it comes back.
        if full != self._paused or (self._assigned and self._has_paused):
            (self._consumer.pause if full else self._consumer.resume)(self._consumer.assignment())
        self._paused, self._assigned = full, False

    def _take(self, record: Record) -> None:
        error = record.error()
        if error is not None:
            log.warning("consumer: %s", error)
            if error.fatal() or error.name() in _DENIED:
                raise KafkaException(error)
            return
        share = self._shares.get((record.topic(), record.partition()))
        if share is None or self._stopping.is_set():
            return  # not ours any more; or it has come although reading is paused, and comes again
        if not share.start(record.offset()):
            return
        self.counts.records += 1
        work = self._work_of(record)
        if work is None:
            self.counts.passed_over += 1
            share.finish(record.offset())
            return
        lease = None
        if last(work.headers, "reseq-lease-until") is not None:
            lease = lease_of(work.headers, _timestamp_of(record), now_ms())
        if lease is None and self._on_receipt:
            raise ValueError(f"the work at {work.place} has no lease, and nothing would give it back after a commit on "
                             'receipt: that needs dispatch.mode = "journal"')
        if lease is not None and now_ms() >= lease.stop_at_ms:
            self.counts.lease_over += 1
            share.finish(record.offset())
            return
        size = len(work.key) + len(work.payload or b"") + sum(len(n) + len(v or b"") for n, v in work.headers)
        task = Task(work, share, size, lease)
        self._held += 1
        self._held_bytes += size
        self.counts.held_most = max(self.counts.held_most, self._held)
        self.counts.held_bytes_most = max(self.counts.held_bytes_most, self._held_bytes)
        if lease is not None:
            self._leased.add(task)
        if self._on_receipt:
            share.finish(record.offset())
            self._received.append(task)
        else:
            self._begin(task)

    def _begin(self, task: Task) -> None:
        if task.work.deleted and not self._deletions:
            self._answered(task, deletion_of(task.work))
        else:
            self._crew.start(task)

    def _begin_received(self) -> None:
        """What is committed is ours, whoever has the partition. What is not goes with it."""
        received, self._received = self._received, []
        for task in received:
            if task.work.lease_lost.is_set():
                self._let_go(task)
            elif task.share.committed > task.work.offset:
                task.share = Share()
                task.share.start(task.work.offset)
                self._begin(task)
            elif task.share.ours:
                self._received.append(task)
            else:
                self.counts.left += 1
                self._let_go(task)

    def _work_of(self, record: Record) -> Optional[Work]:
        """None: there is nothing to do for these targets."""
        headers, key = headers_of(record), record.key()
        if not key or last(headers, "reseq-control") is not None:
            return None  # with intake = "tap": a request without an id, which is a dead letter; a RESET
        named = text(headers, "reseq-targets")
        if named:
            targets = tuple(one for one in named.split(",") if self._targets is None or one in self._targets)
        elif self._targets is not None:
            targets = self._targets
        else:  # with intake = "tap" they are requests, which may leave the targets to the routes
            raise ValueError(f"a record of {record.topic()} names no targets ([{record.partition()}]@{record.offset()}"
                             "): say which ones the function answers for (targets=...)")
        if not targets:
            return None
        return Work(key, record.value(), tuple(headers), targets, record.topic(), record.partition(), record.offset())

    def _serve(self) -> None:
        self._keep_leases()
        for task, outcome in self._crew.outcomes():
            if outcome is LeftAlone or not task.ours:
                self.counts.left += not task.work.lease_lost.is_set()
                self._let_go(task)
            elif isinstance(outcome, BaseException):
                self._fail(task, outcome, task.work.targets)
            else:
                self._answered(task, outcome)  # type: ignore[arg-type]
        self._outbox.poll(0)

    def _keep_leases(self) -> None:
        """Sends heartbeats. What is lost is told so, and its offset may be committed: the lease gives it back."""
        if not self._leased or time.monotonic() < self._leases_at:
            return
        self._leases_at = time.monotonic() + _LEASES_EVERY_S
        now = now_ms()
        for task in list(self._leased):
            lease = task.lease
            if lease is None:
                continue
            if now >= lease.stop_at_ms:  # also when its partition went in the pause that has outlasted the lease
                self._lose(task)
            elif not task.share.ours:
                self._leased.discard(task)
            elif lease.is_due(now):
                lease.sent(now)
                beat = Outgoing(self._commands_topic, task.work.key, None, heartbeat_headers(task.work.headers))
                self._outbox.send(beat, partial(self._beaten, lease))

    @staticmethod
    def _beaten(lease: Lease, error: Optional[ErrorLike]) -> None:
        lease.told(error is None, now_ms())

    def _lose(self, task: Task) -> None:
        log.warning("no heartbeat was acknowledged in time, others get it: id=%r place=%s", task.work.id,
                    task.work.place)
        self._leased.discard(task)
        self.counts.lost += 1
        task.work.lease_lost.set()
        if task in self._received:
            return  # it has not begun
        task.share.finish(task.work.offset)
        self._crew.cancel(task)

    def _answered(self, task: Task, commands: Sequence[Command]) -> None:
        task.unacknowledged += len(commands)
        for one in commands:
            self._outbox.send(Outgoing(self._commands_topic, one.key, one.payload, one.headers),
                              partial(self._told, task, one))

    def _told(self, task: Task, command: Optional[Command], error: Optional[ErrorLike]) -> None:
        """What became of a record; without a command it was a letter."""
        too_large = error is not None and error.code() == KafkaError.MSG_SIZE_TOO_LARGE
        if too_large and command is not None and command.kind != "fail":  # which is as small as a record can be
            self._fail(task, KafkaException(error), command.target.split(","))
        elif error is not None:  # a right, a topic: what is not committed is read again
            task.failed = True
            self._failure = self._failure or KafkaException(error)
        elif command is not None:
            self.counts.results += 1
        task.unacknowledged -= 1
        self._finish_when_told(task)

    def _fail(self, task: Task, error: BaseException, targets: Iterable[str]) -> None:
        """It is about one payload: the others go on, and it must not become a null result, which deletes."""
        self.counts.failed += 1
        task.unacknowledged += 1  # until all is sent
        work = task.work
        log.error("cannot be used: id=%r place=%s error=%r on_error=%s", work.id, work.place, error, self._on_error,
                  exc_info=None if isinstance(error, KafkaException) else error)
        if self._on_error == "stop":
            task.failed = True
            if self._failure is None:
                self._failure = WorkFailed(f"id {work.id!r} at {work.place}: {error!r}")
                self._failure.__cause__ = error
        else:
            if self._on_error == "unregister":
                self._answered(task, [work.unregister(target) for target in targets])
            if self._on_error == "fail":
                self._answered(task, commands_of_failure(work, failure_of(error, self._failures), tuple(targets)))
            if self._letters is not None:
                self._send_letter(task, self._letters, error)
        task.unacknowledged -= 1
        self._finish_when_told(task)

    def _send_letter(self, task: Task, topic: str, error: BaseException) -> None:
        own: List[Header] = [("error", repr(error)[:ERROR_TEXT_MAX].encode("utf-8", "replace")),
                             ("place", task.work.place.encode())]
        task.unacknowledged += 1
        self._outbox.send(Outgoing(topic, task.work.key, None, task.work.reseq_headers() + own),
                          partial(self._told, task, None))

    def _finish_when_told(self, task: Task) -> None:
        if task.unacknowledged > 0:
            return
        if not task.failed and not task.work.lease_lost.is_set():
            task.share.finish(task.work.offset)
        self._let_go(task)

    def _let_go(self, task: Task) -> None:
        self._leased.discard(task)
        self._held -= 1
        self._held_bytes -= task.bytes

    def _commit(self) -> None:
        """One that fails loses nothing: whoever has the partition then does again what was not committed."""
        self._commit_at = time.monotonic() + self._commit_every_s
        ready = self._shares.ready()
        if not ready:
            return
        try:
            for done in self._consumer.commit(offsets=places(ready), asynchronous=False):
                if done.error is None:
                    self._shares.committed((done.topic, done.partition), done.offset)
        except KafkaException as error:  # _ASSIGNMENT_LOST and others: the next poll() says what is still ours
            self.counts.not_committed += 1
            log.warning("not committed: %s", error_of(error).name())

    def _on_assign(self, _: Any, partitions: List[Place]) -> None:
        log.info("assigned: %d partitions", len(partitions))
        self._shares.add((one.topic, one.partition) for one in partitions)
        self._assigned = True

    def _on_revoke(self, _: Any, partitions: List[Place]) -> None:
        self._outbox.poll(0)
        self._commit()
        self._begin_received()
        self._forget("revoked", partitions)

    def _on_lost(self, _: Any, partitions: List[Place]) -> None:
        self._forget("lost", partitions)

    def _forget(self, how: str, partitions: List[Place]) -> None:
        log.info("%s: %d partitions", how, len(partitions))
        self._shares.forget((one.topic, one.partition) for one in partitions)


def _timestamp_of(record: Record) -> int:
    """0: it has none."""
    kind, timestamp = record.timestamp()
    return timestamp if kind != 0 else 0
