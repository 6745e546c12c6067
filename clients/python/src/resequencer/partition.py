"""Which partition a document belongs to. The resequencer refuses a record that lies in another one (`misrouted`).

    murmur2   as Java's clients do it; librdkafka calls it murmur2_random
    crc32     as librdkafka does it when it is not told otherwise; it calls it consistent_random

Thread rule: pure functions."""
from __future__ import annotations

import zlib
from typing import Literal

from .ids import Id, bytes_of

Partitioner = Literal["murmur2", "crc32"]

_U32 = 0xFFFFFFFF
_SEED = 0x9747B28C
_FACTOR = 0x5BD1E995
_LIBRDKAFKA = {"murmur2": "murmur2_random", "crc32": "consistent_random"}


def murmur2(data: bytes) -> int:
    """The 32-bit hash that Java's clients partition by (org.apache.kafka.common.utils.Utils.murmur2), unsigned."""
    length = len(data)
    value = _SEED ^ length
    whole = length - length % 4
    for at in range(0, whole, 4):
        word = int.from_bytes(data[at : at + 4], "little") * _FACTOR & _U32
        word = (word ^ word >> 24) * _FACTOR & _U32
        value = value * _FACTOR & _U32 ^ word
    if whole < length:
        value = (value ^ int.from_bytes(data[whole:], "little")) * _FACTOR & _U32
    value = (value ^ value >> 13) * _FACTOR & _U32
    return value ^ value >> 15


def partition_of(document_id: Id, partitions: int, partitioner: Partitioner = "murmur2") -> int:
    """The partition of `requests` and `commands` that a document belongs to, of so many."""
    if partitions < 1:
        raise ValueError(f"a topic has at least one partition, not {partitions}")
    key = bytes_of(document_id)
    if librdkafka_name_of(partitioner) == "consistent_random":
        return zlib.crc32(key) % partitions
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def librdkafka_name_of(partitioner: str) -> str:
    """ValueError: the resequencer has no partitioner of this name."""
    if partitioner not in _LIBRDKAFKA:
        raise ValueError(f"partitioner is murmur2 or crc32, as the application is configured, not {partitioner!r}")
    return _LIBRDKAFKA[partitioner]
