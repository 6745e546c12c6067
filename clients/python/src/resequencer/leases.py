"""Leases: until when a record of `work` is for the worker that has read it. Where the resequencer has a journal, the
record says it; a heartbeat renews it, and behind its end the resequencer sends the document to somebody else.

Invariant: a lease counts as renewed only from the time at which a heartbeat was sent that is in the log, so it never
ends later here than there, as long as the clocks differ by less than the margin.
Thread rule: one thread; the time is an argument."""
from __future__ import annotations

import time
from dataclasses import dataclass
from typing import List, Optional, Sequence

from .headers import Header, last, text

STOP_MARGIN_MAX_MS = 10_000
AGAIN_AFTER_MS = 100
_COPIED = ("reseq-seq", "reseq-epoch", "reseq-revision", "reseq-attempt")


def now_ms() -> int:
    """Since 1970, as the resequencer counts."""
    return time.time_ns() // 1_000_000


@dataclass
class Lease:
    until_ms: int
    length_ms: int  # of the whole lease, from one renewal to its end
    sent_at_ms: Optional[int] = None  # of a heartbeat that is on its way
    not_before_ms: int = 0  # of the next heartbeat, when one could not be sent

    @property
    def beat_at_ms(self) -> int:
        """A third of it behind the last renewal."""
        return max(self.until_ms - self.length_ms + self.length_ms // 3, self.not_before_ms)

    @property
    def stop_at_ms(self) -> int:
        """Nobody works on it from then on: a sixth before its end, but at most ten seconds."""
        return self.until_ms - min(self.length_ms // 6, STOP_MARGIN_MAX_MS)

    def is_due(self, now: int) -> bool:
        return self.sent_at_ms is None and now >= self.beat_at_ms

    def sent(self, now: int) -> None:
        self.sent_at_ms = now

    def told(self, is_in_log: bool, now: int) -> None:
        """What became of the heartbeat."""
        sent_at, self.sent_at_ms = self.sent_at_ms, None
        if is_in_log and sent_at is not None:
            self.until_ms = max(self.until_ms, sent_at + self.length_ms)
        else:
            self.not_before_ms = now + AGAIN_AFTER_MS


def lease_of(headers: Sequence[Header], written_ms: int, now: int) -> Optional[Lease]:
    """None: the work has none. `written_ms`: the timestamp of the record, 0 where it has none: the lease is as long as
    from there to its end; where that says nothing, as what is left of it now."""
    until = text(headers, "reseq-lease-until")
    if until is None or not until.isdigit() or int(until) == 0:
        return None
    begin = written_ms if 0 < written_ms < int(until) else min(now, int(until))
    return Lease(int(until), int(until) - begin)


def heartbeat_headers(headers: Sequence[Header]) -> List[Header]:
    """What says which attempt it is about."""
    values = [(name, last(headers, name)) for name in _COPIED]
    return [("reseq-command", b"heartbeat"), *(one for one in values if one[1] is not None)]
