"""What goes wrong, by what a caller can do about it. Settings that cannot be are ValueErrors.

Thread rule: plain values."""
from __future__ import annotations


class ResequencerError(Exception):
    """Of this package."""


class NoSuchTopic(ResequencerError):
    """A topic that is needed is not there: `resequencer init` makes those of the application."""


class NotDelivered(ResequencerError):
    """Records that were given to a producer are not in the log."""


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
