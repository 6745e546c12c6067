"""Ids of documents: the key of every record. Any 1 to 4096 bytes; as text UTF-8, and what is not UTF-8 in it comes back
as the same bytes (surrogateescape). So an id that was read can be used to send, whatever it is.

Thread rule: pure functions."""
from __future__ import annotations

from typing import Union

Id = Union[str, bytes]

ID_BYTES_MAX = 4096


def bytes_of(document_id: Id) -> bytes:
    """The key of its records. ValueError: it is empty, or too long."""
    key = document_id if isinstance(document_id, bytes) else document_id.encode("utf-8", "surrogateescape")
    if not 1 <= len(key) <= ID_BYTES_MAX:
        raise ValueError(f"an id has 1 to {ID_BYTES_MAX} bytes, this one has {len(key)}")
    return key


def text_of(key: bytes) -> str:
    """The id as text; bytes_of() makes the same key of it."""
    return key.decode("utf-8", "surrogateescape")
