"""Crews: those who run the function of a worker, in threads or as coroutines. A crew gets tasks and puts each of them
back with its outcome, in any order.

What passes by itself (`retry`) is tried again; any other exception is about this one payload, and its outcome.
Thread rule: start(), leave() and outcomes() by the thread of the worker; the function runs elsewhere."""
from __future__ import annotations

import asyncio
import logging
import threading
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Awaitable, Callable, Dict, Iterator, List, Optional, Protocol, Tuple, Type, Union

from .leases import Lease
from .shares import Share
from .work import Answer, Command, Work, commands_of

log = logging.getLogger("resequencer")

Function = Callable[[Work], Answer]
AsyncFunction = Callable[[Work], Awaitable[Answer]]


@dataclass(eq=False)
class Task:
    """A record of work that is held. Finished when all that was sent for it is in the log."""

    work: Work
    share: Share
    bytes: int
    lease: Optional[Lease] = None
    unacknowledged: int = 0
    failed: bool = False  # it stops the worker, and is not committed

    @property
    def ours(self) -> bool:
        """Neither its partition nor its lease has gone elsewhere."""
        return self.share.ours and not self.work.lease_lost.is_set()


class LeftAlone:
    """Nothing was answered: the partition is not ours any more, or the worker ends."""


Outcome = Union[List[Command], BaseException, Type[LeftAlone]]


@dataclass(frozen=True)
class Retry:
    """What is tried again, and after how long."""

    kinds: Tuple[Type[BaseException], ...]
    after_s: float


class Crew(Protocol):
    def start(self, task: Task) -> None: ...

    def leave(self) -> None:
        """What has not begun does not begin, and what failed is not tried again."""

    def cancel(self, task: Task) -> None:
        """Its lease is lost. A thread cannot be ended from outside: its function may ask the work."""

    def outcomes(self) -> Iterator[Tuple[Task, Outcome]]:
        """Those that are there."""

    def close(self) -> None:
        """Does not wait for what still runs."""


@dataclass
class _Desk:
    """What both kinds of crews have: where outcomes lie, and whether more is wanted."""

    retry: Retry
    done: "SimpleQueue[Tuple[Task, Outcome]]" = field(default_factory=SimpleQueue)
    leaving: threading.Event = field(default_factory=threading.Event)

    def wants(self, task: Task) -> bool:
        return task.ours and not self.leaving.is_set()

    def tried_again(self, task: Task, error: BaseException) -> None:
        log.warning("tried again: id=%r place=%s error=%r", task.work.id, task.work.place, error)

    def outcomes(self) -> Iterator[Tuple[Task, Outcome]]:
        while True:
            try:
                yield self.done.get_nowait()
            except Empty:
                return


class Threads:
    """So many threads. They are daemons: a function that never returns does not keep the process from ending."""

    def __init__(self, function: Function, count: int, retry: Retry) -> None:
        self._function = function
        self._desk = _Desk(retry)
        self.leave = self._desk.leaving.set
        self.outcomes = self._desk.outcomes
        self._tasks: "SimpleQueue[Optional[Task]]" = SimpleQueue()
        self._threads = [threading.Thread(target=self._run, name=f"resequencer-{i}", daemon=True)
                         for i in range(count)]
        for thread in self._threads:
            thread.start()

    def start(self, task: Task) -> None:
        self._tasks.put(task)

    def cancel(self, task: Task) -> None:
        pass

    def close(self) -> None:
        self.leave()
        for _ in self._threads:
            self._tasks.put(None)

    def _run(self) -> None:
        while (task := self._tasks.get()) is not None:
            self._desk.done.put((task, self._outcome(task)))

    def _outcome(self, task: Task) -> Outcome:
        while self._desk.wants(task):
            try:
                return commands_of(task.work, self._function(task.work))
            except self._desk.retry.kinds as error:
                self._desk.tried_again(task, error)
                self._desk.leaving.wait(self._desk.retry.after_s)
            except BaseException as error:  # also an exit: the thread has to go on
                return error
        return LeftAlone


class Coroutines:
    """So many coroutines at once, on the loop of a caller."""

    def __init__(self, function: AsyncFunction, count: int, retry: Retry, loop: asyncio.AbstractEventLoop) -> None:
        self._function = function
        self._desk = _Desk(retry)
        self.leave = self._desk.leaving.set
        self.outcomes = self._desk.outcomes
        self._loop = loop
        self._room = asyncio.Semaphore(count)
        self._running: Dict[Task, "asyncio.Task[None]"] = {}
        self._closed = False

    def start(self, task: Task) -> None:
        self._loop.call_soon_threadsafe(self._begin, task)

    def cancel(self, task: Task) -> None:
        self._loop.call_soon_threadsafe(self._cancel_one, task)

    def close(self) -> None:
        self.leave()
        self._loop.call_soon_threadsafe(self._cancel)

    def _begin(self, task: Task) -> None:
        running = self._loop.create_task(self._run(task))
        self._running[task] = running
        running.add_done_callback(lambda _: self._running.pop(task, None))

    def _cancel_one(self, task: Task) -> None:
        if (running := self._running.get(task)) is not None:
            running.cancel()

    def _cancel(self) -> None:
        self._closed = True
        for running in self._running.values():
            running.cancel()

    async def _run(self, task: Task) -> None:
        outcome: Outcome = LeftAlone
        try:
            async with self._room:
                outcome = await self._outcome(task)
        except asyncio.CancelledError:
            if self._closed:
                raise
        self._desk.done.put((task, outcome))

    async def _outcome(self, task: Task) -> Outcome:
        while self._desk.wants(task):
            try:
                return commands_of(task.work, await self._function(task.work))
            except self._desk.retry.kinds as error:
                self._desk.tried_again(task, error)
                await asyncio.sleep(self._desk.retry.after_s)
            except asyncio.CancelledError as error:  # by us, or within the function
                if self._closed:
                    raise
                return error
            except Exception as error:
                return error
        return LeftAlone
