"""Work: a record of `work` as the function of a worker sees it, and what becomes of its answer: records for `commands`.
All headers of the work are copied, known or not; only those that the answer itself sets are replaced. Without that
contract no header could be added to the wire later without breaking every worker.

Thread rule: plain values, pure functions."""
from __future__ import annotations

import threading
from dataclasses import dataclass, field
from enum import Enum
from typing import Iterable, List, Literal, Mapping, Optional, Set, Tuple, Union, get_args

from .errors import FailureEffect, FailureKind, FailureScope, LeaseLost
from .headers import GivenHeaders, Header, given, last, replaced, text
from .ids import Id, bytes_of, text_of


class Special(Enum):
    """Answers that are no payload."""

    DELETE = "delete"  # the document is deleted, and this is said, not left to a null payload
    UNREGISTER = "unregister"  # no result will come


DELETE: Literal[Special.DELETE] = Special.DELETE
UNREGISTER: Literal[Special.UNREGISTER] = Special.UNREGISTER

Payload = Union[str, bytes, Special]

# Of what is said of a failure; the resequencer keeps no more.
ERROR_BYTES_MAX = 1024


@dataclass(frozen=True)
class Command:
    """A record for `commands`; made by the methods of Work."""

    key: bytes
    payload: Optional[bytes]
    headers: List[Header]
    target: str  # whom it is about: a target, "*", or several, comma separated

    @property
    def kind(self) -> str:
        return text(self.headers, "reseq-command") or ""


# What a function answers: one payload for all targets; by target; or any commands, at least one.
Answer = Union[Payload, Mapping[str, Payload], Command, Iterable[Command]]


@dataclass(frozen=True)
class Work:
    """What has to be done for one document. The record may be kept as long as that takes."""

    key: bytes
    payload: Optional[bytes]
    headers: Tuple[Header, ...]
    targets: Tuple[str, ...]  # those that have to get a result of this worker
    topic: str
    partition: int
    offset: int
    # Is set when its lease is lost, which only work of a resequencer with a journal has: stop then.
    lease_lost: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)

    @property
    def id(self) -> str:
        """The id as text; what is not UTF-8 in it is kept (surrogateescape)."""
        return text_of(self.key)

    @property
    def sequence(self) -> str:
        return text(self.headers, "reseq-seq") or ""

    @property
    def place(self) -> str:
        return f"{self.topic}[{self.partition}]@{self.offset}"

    @property
    def deleted(self) -> bool:
        """The document is to be deleted. An empty payload does not delete."""
        op = last(self.headers, "reseq-op")
        return op == b"delete" or (op is None and self.payload is None)

    @property
    def listed(self) -> Tuple[str, ...]:
        """All targets that it was sent for, also those that other workers answer for. None: it does not say."""
        return tuple(one for one in (text(self.headers, "reseq-targets") or "").split(",") if one)

    def header(self, name: str) -> Optional[bytes]:
        """Of a doubled header the last value counts."""
        return last(self.headers, name)

    @property
    def attempt(self) -> int:
        """Which time it is that the work was sent; 1 where it does not say."""
        return int(text(self.headers, "reseq-attempt") or 1)

    def check_lease(self) -> None:
        """LeaseLost: nothing of this work is sent any more. To be called now and then by a function that takes long."""
        if self.lease_lost.is_set():
            raise LeaseLost(f"id {self.id!r} at {self.place}")

    def result(self, target: str, payload: Payload, *, id: Optional[Id] = None, headers: GivenHeaders = (),
               observed_version: Optional[int] = None) -> Command:
        """What `target` shall get. `id`: of another document, which needs a register() before. `observed_version`: the
        highest version that the computation has read; that of this result will be above it."""
        if payload is UNREGISTER:
            return self.unregister(target, id=id)
        own: List[Header] = [("reseq-command", b"sequence"), ("reseq-target", target.encode())]
        if payload is DELETE:
            own.append(("reseq-op", b"delete"))
        if observed_version is not None:
            own.append(("reseq-observed-version", str(observed_version).encode()))
        return self._command(id, _bytes_of(payload), own + given(headers), target)

    def register(self, targets: Iterable[str], *, id: Optional[Id] = None) -> Command:
        """Results for these targets will come, for another document with `id`. To be sent before them."""
        names = ",".join([targets] if isinstance(targets, str) else targets)
        return self._command(id, None, [("reseq-command", b"register"), ("reseq-targets", names.encode())], names)

    def unregister(self, target: str = "*", *, id: Optional[Id] = None) -> Command:
        """No result will come for the target; `*`: for all that wait."""
        return self._command(id, None, [("reseq-command", b"unregister"), ("reseq-target", target.encode())], target)

    def fail(self, error: str = "", *, kind: FailureKind = "unknown", scope: FailureScope = "document",
             effect: FailureEffect = "unknown", target: str = "*") -> Command:
        """The work could not be done for the target; `*`: for all that it was sent for and that have no result. It is
        sent again later, or given up (docs/failures.md). `error`: what happened, for people. `effect`: "none" says
        that nothing was done; a potent target is tried again only then."""
        for value, known in ((kind, FailureKind), (scope, FailureScope), (effect, FailureEffect)):
            if value not in get_args(known):
                raise ValueError(f"a failure is one of {', '.join(get_args(known))}, not {value!r}")
        own: List[Header] = [("reseq-command", b"fail"), ("reseq-target", target.encode()),
                             ("reseq-failure", kind.encode()), ("reseq-failure-scope", scope.encode())]
        if effect == "none":
            own.append(("reseq-effect", b"none"))
        if error:
            own.append(("reseq-error", _beginning_of(error)))
        return self._command(None, None, own, target)

    def reseq_headers(self) -> List[Header]:
        """All of the contract, known or not."""
        return [header for header in self.headers if header[0].startswith("reseq-")]

    def _command(self, other: Optional[Id], payload: Optional[bytes], own: List[Header], target: str) -> Command:
        key = self.key if other is None else bytes_of(other)
        copied = self.headers if key == self.key else [one for one in self.headers if one[0] != "reseq-id"]
        return Command(key, payload, replaced(copied, own), target)


def commands_of(work: Work, answer: Answer) -> List[Command]:
    """What a function answered, as records. TypeError, ValueError: it cannot be one; a bug must not delete a document,
    nor leave out a target in silence. Work that is tried again lists only the targets that are still to be done: what
    an answer says of others is left out."""
    if isinstance(answer, (str, bytes, Special)):
        return [work.result(target, answer) for target in work.targets]
    if isinstance(answer, Command):
        return _asked_for(work, [answer])
    if isinstance(answer, Mapping):
        if not set(answer) >= set(work.targets):
            raise ValueError(f"the answer is for {_names(answer)}, the work for {_names(work.targets)}; "
                             "UNREGISTER stands for a target that gets no result")
        return [work.result(target, answer[target]) for target in work.targets]
    if answer is None or not isinstance(answer, Iterable):
        raise TypeError(f"the answer is {type(answer).__name__}; DELETE deletes, UNREGISTER gives up")
    answered = list(answer)
    commands = [one for one in answered if isinstance(one, Command)]
    if not commands or len(commands) < len(answered):
        raise TypeError("a list as an answer holds commands, one at least: work.result(...) makes one")
    return _asked_for(work, commands)


def deletion_of(work: Work) -> List[Command]:
    """What answers a deletion: the same for each target. Whether null alone deletes is not for a worker to decide, so
    it says no more than the request did."""
    return [work._command(None, None, [("reseq-command", b"sequence"), ("reseq-target", target.encode())], target)
            for target in work.targets]


def _asked_for(work: Work, commands: List[Command]) -> List[Command]:
    """Without those of this document for targets that the work does not list, nor one of the commands registers."""
    asked: Set[str] = {*work.listed, "*"}
    for one in commands:
        if one.key == work.key and one.kind == "register":
            asked.update(one.target.split(","))
    kept = [one for one in commands
            if not work.listed or one.key != work.key or one.kind == "register" or one.target in asked]
    if not kept:
        raise ValueError(f"the answer is for {_names(one.target for one in commands)}, "
                         f"the work for {_names(work.listed)}")
    return kept


def _beginning_of(error: str) -> bytes:
    """A character that is cut through would be none."""
    return error.encode("utf-8", "replace")[:ERROR_BYTES_MAX].decode("utf-8", "ignore").encode()


def _bytes_of(payload: Payload) -> Optional[bytes]:
    if payload is DELETE:
        return None
    if isinstance(payload, str):
        return payload.encode()
    if isinstance(payload, bytes):
        return payload
    raise TypeError(f"a payload is text or bytes, not {type(payload).__name__}; DELETE deletes, UNREGISTER gives up")


def _names(targets: Iterable[str]) -> str:
    return ", ".join(sorted(map(str, targets))) or "none"
