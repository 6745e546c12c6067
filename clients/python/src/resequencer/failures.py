"""Failures: what the exception of a function says of its work.

Invariant: the class of an exception that is nearest decides, so ConnectionError may say something else than OSError.
Thread rule: plain values, pure functions."""
from __future__ import annotations

from typing import List, Mapping, Optional, Tuple, Type

from .errors import Failure, Transient, check_effect
from .work import Command, Work

Failures = Mapping[Type[BaseException], Type[Failure]]


def table_of(failures: Optional[Failures], passing: Tuple[Type[BaseException], ...]) -> Failures:
    """What exceptions mean. `passing`: those that pass by themselves, unless they are in `failures`."""
    for kind, meaning in (failures or {}).items():
        if not (isinstance(kind, type) and issubclass(kind, BaseException)):
            raise TypeError(f"failures are by classes of exceptions, not {kind!r}")
        if not (isinstance(meaning, type) and issubclass(meaning, Failure)):
            raise TypeError(f"{kind.__name__} may mean Transient, Permanent, Universal or Failure, not {meaning!r}")
        check_effect(meaning.effect)
    return {**{kind: Transient for kind in passing}, **(failures or {})}


def failure_of(error: BaseException, table: Failures) -> Failure:
    """The failure itself, or what the nearest class of the exception means; the text says which exception it was."""
    if isinstance(error, Failure):
        return error
    meaning = next((table[kind] for kind in type(error).__mro__ if kind in table), Failure)
    text = str(error)
    return meaning(f"{type(error).__name__}: {text}" if text else type(error).__name__)


def commands_of_failure(work: Work, failure: Failure, targets: Tuple[str, ...]) -> List[Command]:
    """For these targets of the work: one for all when they are all that it was sent for."""
    for_all = set(targets) == set(work.listed)
    return [work.fail(str(failure), kind=failure.kind, scope=failure.scope, effect=failure.effect, target=target)
            for target in (("*",) if for_all else targets)]
