"""Shares: the partitions of `work` that are ours, and how far each may be committed.

Invariant: what may be committed ends where the first record stands that is not finished. Threads finish in any order,
and an offset says that everything before it is done.
Thread rule: one thread; `ours` may be read by others."""
from __future__ import annotations

from collections import deque
from typing import Deque, Dict, Iterable, List, Optional, Set, Tuple

Partition = Tuple[str, int]  # topic and number


class Share:
    """A partition for as long as it is ours: one that went away and came back is another share."""

    def __init__(self) -> None:
        self.ours = True
        self.committed = 0
        self._ready = self._next = 0
        self._open: Deque[int] = deque()  # in the order of reading, from the first that is not finished on
        self._finished: Set[int] = set()  # of those

    def start(self, offset: int) -> bool:
        """False: it was started before. librdkafka may hand out a record once more when a pause ends."""
        if offset < self._next:
            return False
        self._open.append(offset)
        self._next = offset + 1
        return True

    def finish(self, offset: int) -> None:
        self._finished.add(offset)
        while self._open and self._open[0] in self._finished:
            first = self._open.popleft()
            self._finished.remove(first)
            self._ready = first + 1

    @property
    def ready(self) -> Optional[int]:
        """Where the group may go on, if that is further than it was committed."""
        return self._ready if self._ready > self.committed else None


class Shares:
    def __init__(self) -> None:
        self._shares: Dict[Partition, Share] = {}

    def add(self, partitions: Iterable[Partition]) -> None:
        for partition in partitions:
            self._shares[partition] = Share()

    def forget(self, partitions: Iterable[Partition]) -> None:
        """Nothing is sent and nothing committed for them any more."""
        for partition in partitions:
            share = self._shares.pop(partition, None)
            if share is not None:
                share.ours = False

    def get(self, partition: Partition) -> Optional[Share]:
        return self._shares.get(partition)

    def ready(self) -> List[Tuple[str, int, int]]:
        """Topic, partition and offset of what may be committed."""
        return [(topic, number, share.ready) for (topic, number), share in self._shares.items()
                if share.ready is not None]

    def committed(self, partition: Partition, offset: int) -> None:
        share = self._shares.get(partition)
        if share is not None:
            share.committed = offset
