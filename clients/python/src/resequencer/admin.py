"""Admin: asks the instances of an application what they know, through its two admin topics; nothing but Kafka has to be
reachable. Answers are JSON as schemas/admin.replies.schema.json has it.

Invariant: only answers to the own question are taken, by a correlation id that is drawn at random; others ask and are
answered on the same topics. Nobody is a member of a group, nothing is committed.
Thread rule: one thread."""
from __future__ import annotations

import base64
import json
import secrets
import time
from types import TracebackType
from typing import Callable, Iterator, Literal, Optional, Type, Union

from .answers import Answers, Json
from .confluent import (METADATA_LIMIT_S, Consumer, ErrorLike, KafkaException, Settings, TopicPartition, headers_of,
                        open_consumer, open_producer, partitions_of)
from .errors import NotAnswered, NotDelivered, QueryRefused
from .headers import last
from .ids import Id, bytes_of
from .outbox import Outbox, Outgoing

State = Literal["any", "live", "overdue", "starving", "completed", "waiting", "processing", "stuck",
                "retrying", "failed", "held", "gap"]

PROTOCOL = 1
PAGE_MAX = 1000
TIMEOUT_MAX_S = 60.0
# A round of questions: what was on its way to another instance meanwhile is asked for again in the next one.
_ROUND_S = 1.5
_SEND_S = 10.0
_SLICE_S = 0.1


class Admin:
    """`timeout_s`: of each query. Topics: unless the configuration names others, those of the application."""

    def __init__(self, brokers: str, application: str, *, timeout_s: float = 5.0, requests_topic: Optional[str] = None,
                 replies_topic: Optional[str] = None, settings: Optional[Settings] = None) -> None:
        if not 0 < timeout_s <= TIMEOUT_MAX_S:
            raise ValueError(f"timeout_s is above 0 and at most {TIMEOUT_MAX_S:.0f}")
        self._timeout_s = timeout_s
        self._requests = requests_topic or f"{application}.admin.requests"
        self._replies = replies_topic or f"{application}.admin.replies"
        producer = open_producer(brokers, "murmur2_random", {"linger.ms": 0}, settings)
        partitions_of(producer, self._requests)
        self._outbox = Outbox(producer)
        self._consumer: Consumer = open_consumer(brokers, f"{application}.admin", settings)
        self._read_from_end()

    def document(self, document_id: Id) -> Optional[Json]:
        """All that is known of a document (schema: `document`), with the `partition` and `instance` that know it; None:
        nothing."""
        answers = self._collect({"query": "document", **_bytes("id", bytes_of(document_id))},
                                lambda answers: answers.all_asked)
        for partition, part in answers.partitions.items():
            for found in part.get("documents", []):
                return {**found, "partition": partition, "instance": part["instance"]}
        return None

    def documents(self, state: State = "any", *, id_prefix: Union[str, bytes] = b"", older_than_ms: int = 0,
                  error: Union[str, bytes] = b"", page: int = 100) -> Iterator[Json]:
        """Documents of all partitions, one partition after the other, in the order of their ids, as document() has
        them. `older_than_ms`: they wait for at least so long. `error`, of those that are retrying or have failed: it
        stands in what was said last. Asks page by page while it is read."""
        prefix = _text(id_prefix)
        text = _text(error)
        question: Json = {"query": "list", "state": state, "older_than_ms": older_than_ms,
                          "documents_max": min(page, PAGE_MAX), **(_bytes("id_prefix", prefix) if prefix else {}),
                          **(_bytes("error", text) if text else {})}
        for partition in range(self.stats().total):
            cursor: Optional[str] = None
            while True:
                more = {} if cursor is None else {"cursor": cursor}
                answers = self._collect({**question, "partition": partition, **more},
                                        lambda answers: answers.all_asked)
                part = answers.partitions[partition]
                for found in part.get("documents", []):
                    if _failed_of(found, state, text):
                        yield {**found, "partition": partition, "instance": part["instance"]}
                cursor = part.get("cursor")
                if cursor is None:
                    break

    def stats(self) -> Answers:
        """What each partition has done and what waits in it: counts of outcomes, rates, documents, lag."""
        return self._collect({"query": "stats"}, lambda answers: answers.complete)

    def topology(self) -> Answers:
        """Instances and their partitions."""
        return self._collect({"query": "topology"}, lambda answers: answers.complete)

    def config(self) -> Answers:
        """In `replies`, by instance, `toml`: the configuration that it runs with; secrets are masked."""
        return self._collect({"query": "config"}, lambda answers: answers.complete)

    def close(self) -> None:
        self._consumer.close()

    def __enter__(self) -> "Admin":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def _read_from_end(self) -> None:
        """What is answered after this is read."""
        ends = []
        for number in range(partitions_of(self._consumer, self._replies)):
            one = TopicPartition(self._replies, number)
            _, one.offset = self._consumer.get_watermark_offsets(one, METADATA_LIMIT_S)
            ends.append(one)
        self._consumer.assign(ends)

    def _collect(self, question: Json, has_all: Callable[[Answers], bool]) -> Answers:
        """Asks round after round. QueryRefused: no instance takes the question. NotAnswered: something is lacking."""
        answers = Answers()
        until = time.monotonic() + self._timeout_s
        while not has_all(answers) and (left := until - time.monotonic()) > 0:
            self._ask(question, min(left, _ROUND_S), answers, has_all)
            if answers.refused is not None and not answers.replies:
                raise QueryRefused(*answers.refused)
            # Not at once: who had a partition before may still call it parked, and its owner answers in the same round.
            if answers.rest_is_parked:
                break
        if not has_all(answers):
            raise NotAnswered(answers.why_lacking)
        return answers

    def _ask(self, question: Json, limit_s: float, answers: Answers, has_all: Callable[[Answers], bool]) -> None:
        correlation = secrets.token_hex(16).encode()
        timeout_ms = max(1, int(limit_s * 1000))
        self._send(correlation, json.dumps({"protocol": PROTOCOL, "timeout_ms": timeout_ms, **question}).encode())
        until = time.monotonic() + limit_s
        while not has_all(answers) and (left := until - time.monotonic()) > 0:
            record = self._consumer.poll(min(left, _SLICE_S))
            if record is None:
                continue
            error = record.error()
            if error is not None:
                if error.fatal():
                    raise KafkaException(error)
                continue
            if last(headers_of(record), "reseq-correlation-id") != correlation:
                continue  # of others, or of a round before
            reply = _object(record.value())
            if reply is not None:
                answers.add(reply)

    def _send(self, correlation: bytes, question: bytes) -> None:
        failures = []

        def told(error: Optional[ErrorLike]) -> None:
            if error is not None:
                failures.append(error.name())

        record = Outgoing(self._requests, correlation, question, [("reseq-correlation-id", correlation)])
        self._outbox.send(record, told)
        if self._outbox.flush(_SEND_S) > 0 or failures:
            raise NotDelivered(f"the brokers did not take the question within {_SEND_S:.0f} s: {failures}")


def _bytes(name: str, value: bytes) -> Json:
    """As text when it is UTF-8, as base64 otherwise."""
    try:
        return {name: value.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(value).decode()}


def _text(value: Union[str, bytes]) -> bytes:
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


def _failed_of(document: Json, state: State, text: bytes) -> bool:
    """An instance of a version without this question lists what failed of anything."""
    errors = (base64.b64decode(one["error_base64"]) if "error_base64" in one else one.get("error", "").encode()
              for one in document.get("failures", []) if one["state"] == state)
    return not text or any(text in error for error in errors)


def _object(payload: Optional[bytes]) -> Optional[Json]:
    """None: it is nobody's answer."""
    try:
        value = json.loads(payload or b"")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
