"""Answers: what the instances replied to one query, put together: one part per partition. Of two instances that answer
for the same partition the one that took it over last is right.

Thread rule: one thread."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

Json = Dict[str, Any]

# More than a cluster of Kafka can have: what replies say comes from outside.
PARTITIONS_MAX = 10_000


def _number(value: Json, name: str, otherwise: int = 0) -> int:
    found = value.get(name, otherwise)
    return found if isinstance(found, int) and not isinstance(found, bool) else otherwise


def _is_better(one: Json, other: Json) -> bool:
    """An answer that says something stands above a refusal; of two the later generation, then the later position."""
    ranks = [("refused" not in part, _number(part, "generation"), _number(part, "changelog_position"))
             for part in (one, other)]
    return ranks[0] > ranks[1]


class Answers:
    def __init__(self) -> None:
        self.partitions: Dict[int, Json] = {}  # each with the instance that answered
        self.replies: Dict[str, Json] = {}  # the last one of each instance, by its name
        self.total = 0  # partitions of the application; 0 while nobody has said
        self.refused: Optional[Tuple[str, str]] = None  # the query as a whole, why; another instance may answer it

    def add(self, reply: Json) -> None:
        self.total = min(max(self.total, _number(reply, "partitions_total")), PARTITIONS_MAX)
        refused = reply.get("refused")
        if isinstance(refused, dict):
            self.refused = str(refused.get("reason", "-")), str(refused.get("detail", "-"))
            return
        instance = str(reply.get("instance", "-"))
        self.replies[instance] = reply
        parts = reply.get("partitions")
        for part in parts if isinstance(parts, list) else []:
            partition = _number(part, "partition", -1) if isinstance(part, dict) else -1
            if partition < 0:
                continue
            own = {**part, "instance": instance}
            known = self.partitions.get(partition)
            if known is None or _is_better(own, known):
                self.partitions[partition] = own

    @property
    def asked(self) -> Optional[int]:
        """How many partitions a query about documents is about, as the first instance says; None: of no such query."""
        for reply in self.replies.values():
            return _number(reply, "partitions_asked", PARTITIONS_MAX + 1)
        return None

    @property
    def complete(self) -> bool:
        """Somebody that can answer has answered for each partition."""
        return self.total > 0 and not self.lacking

    @property
    def all_asked(self) -> bool:
        """The same for a query about documents, which may be about one partition alone."""
        asked = self.asked
        return asked is not None and sum("refused" not in part for part in self.partitions.values()) >= asked

    @property
    def rest_is_parked(self) -> bool:
        """Nobody else will answer: those of the partitions asked that have not answered are parked."""
        asked = self.asked
        settled = sum("refused" not in part or _is_parked(part) for part in self.partitions.values())
        return asked is not None and settled >= asked

    @property
    def lacking(self) -> List[int]:
        """Partitions that nobody has answered for."""
        return [i for i in range(self.total) if "refused" in self.partitions.get(i, {"refused": True})]

    @property
    def why_lacking(self) -> str:
        """Of partitions that are parked the reason and the first step; else whether anybody has answered."""
        for partition, part in sorted(self.partitions.items()):
            if "refused" in part and _is_parked(part):
                parked = part["parked"]
                step = f": {parked['first_step']}" if parked.get("first_step") else ""
                return f"partition {partition} is parked: {parked.get('reason')}: {parked.get('detail')}{step}"
        if not self.replies:
            return "no instance answers: does one run, and is this its application?"
        refused = [f"{part['refused'].get('reason')}" for part in self.partitions.values() if "refused" in part]
        return f"no answer for partitions {self.lacking}" + (f" ({', '.join(sorted(set(refused)))})" if refused else "")


def _is_parked(part: Json) -> bool:
    return isinstance(part.get("parked"), dict)
