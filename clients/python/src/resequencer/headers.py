"""Headers of records: a list of names and values, in the order in which they stand. Of a doubled header the last one
counts. A value may be null.

Thread rule: pure functions."""
from __future__ import annotations

from typing import Iterable, List, Mapping, Optional, Sequence, Tuple, Union

Header = Tuple[str, Optional[bytes]]
GivenHeaders = Union[Mapping[str, Union[str, bytes, None]], Iterable[Tuple[str, Union[str, bytes, None]]]]

PREFIX = "reseq-"


def last(headers: Sequence[Header], name: str) -> Optional[bytes]:
    """The value that counts; None: there is no such header, or its value is null."""
    for have, value in reversed(headers):
        if have == name:
            return value
    return None


def text(headers: Sequence[Header], name: str) -> Optional[str]:
    """The same as text: what this contract says is ASCII."""
    value = last(headers, name)
    return None if value is None else value.decode("ascii", "backslashreplace")


def replaced(headers: Iterable[Header], own: Sequence[Header]) -> List[Header]:
    """All headers in their order but those that `own` sets, then `own`."""
    names = {name for name, _ in own}
    return [header for header in headers if header[0] not in names] + list(own)


def given(headers: GivenHeaders) -> List[Header]:
    """Headers as a caller writes them, a mapping or pairs, text or bytes."""
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    return [(name, value.encode() if isinstance(value, str) else value) for name, value in pairs]
