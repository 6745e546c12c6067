"""What goes wrong, by what a caller can do about it. Settings that cannot be are ValueErrors.

Thread rule: plain values."""
from __future__ import annotations

from typing import ClassVar, Literal, Optional, get_args

FailureKind = Literal["transient", "permanent", "unknown"]
FailureScope = Literal["document", "universal"]
FailureEffect = Literal["none", "unknown"]


class ResequencerError(Exception):
    """Of this package."""


class NoSuchTopic(ResequencerError):
    """A topic that is needed is not there: `resequencer init` makes those of the application."""


class NotDelivered(ResequencerError):
    """Records that were given to a producer are not in the log."""


def check_effect(effect: object) -> None:
    if effect not in get_args(FailureEffect):
        raise ValueError(f"an effect is one of {', '.join(get_args(FailureEffect))}, not {effect!r}")


class Failure(ResequencerError):
    """To be raised by the function of a worker with on_error="fail": what happened, for people. One of the three below
    says more; this one is of an unknown kind, as any other exception is. `effect`: "none" says that nothing was done;
    a potent target is tried again only then."""

    kind: ClassVar[FailureKind] = "unknown"
    scope: ClassVar[FailureScope] = "document"
    effect: FailureEffect = "unknown"

    def __init__(self, *said: object, effect: Optional[FailureEffect] = None) -> None:
        super().__init__(*said)
        if effect is not None:  # else what its class says
            self.effect = effect
        check_effect(self.effect)


class Transient(Failure):
    """The document may work next time: a lock, a time-out of this one."""

    kind = "transient"


class Permanent(Failure):
    """The document never will: a PDF that cannot be read."""

    kind = "permanent"


class Universal(Failure):
    """It is not about this document: the search engine is down."""

    kind = "transient"
    scope = "universal"


class WorkFailed(ResequencerError):
    """on_error="stop": the function of a worker raised, or answered what cannot be sent. The cause is the exception;
    the record is not committed and comes again at the next start."""


class LeaseLost(ResequencerError):
    """The lease of the work is lost: others get the document, and nothing of it is sent any more."""


class NotAnswered(ResequencerError):
    """No instance has answered a query in time for all partitions that it is about, or those partitions are parked."""


class QueryRefused(ResequencerError):
    """The instances refuse a query as a whole. `reason` is one of schemas/admin.replies.schema.json."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"refused: {reason}: {detail}")
        self.reason = reason
