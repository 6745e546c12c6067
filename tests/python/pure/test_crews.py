"""Those who run the function of a worker."""
import asyncio
import threading
import time

import pytest
from resequencer import Work
from resequencer.crews import Coroutines, LeftAlone, Retry, Task, Threads
from resequencer.shares import Share

LIMIT_S = 30
RETRY = Retry((OSError,), 0.01)


def task(name="x"):
    return Task(Work(name.encode(), b"payload", (), ("search",), "work", 0, 0), Share(), 1)


def outcomes(crew, count):
    """By id, as soon as there are so many."""
    found, until = {}, time.monotonic() + LIMIT_S
    while len(found) < count and time.monotonic() < until:
        found.update({one.work.id: outcome for one, outcome in crew.outcomes()})
        time.sleep(0.001)
    return found


def play(function, count, steps, retry=RETRY):
    """Does the steps with a crew of threads, or of coroutines on a loop of their own."""
    if not asyncio.iscoroutinefunction(function):
        crew = Threads(function, count, retry)
        try:
            return steps(crew)
        finally:
            crew.close()

    async def on_a_loop():
        crew = Coroutines(function, count, retry, asyncio.get_running_loop())
        try:
            return await asyncio.to_thread(steps, crew)
        finally:
            crew.close()
            await asyncio.sleep(0)

    return asyncio.run(on_a_loop())


def both(function):
    """The function, and a coroutine function that does the same."""
    async def coroutine(work):
        await asyncio.sleep(0)
        return function(work)
    return pytest.param(function, id="threads"), pytest.param(coroutine, id="coroutines")


def picky(work):
    if work.id == "bad":
        raise ValueError("no use")
    if work.id == "exit":
        raise SystemExit(1) if threading.current_thread() is not threading.main_thread() else ValueError("exit")
    return None if work.id == "nothing" else work.payload


@pytest.mark.parametrize("function", both(picky))
def test_an_exception_is_about_one_payload(function):
    def steps(crew):
        for name in ("good", "bad", "nothing", "exit", "fine"):
            crew.start(task(name))
        return outcomes(crew, 5)
    found = play(function, 1, steps)
    assert [found[name][0].payload for name in ("good", "fine")] == [b"payload"] * 2
    assert isinstance(found["bad"], ValueError) and isinstance(found["nothing"], TypeError)
    assert isinstance(found["exit"], (SystemExit, ValueError))


def flaky():
    tries = []

    def function(work):
        tries.append(work)
        if len(tries) < 3:
            raise ConnectionError("away")
        return "result"
    return function


@pytest.mark.parametrize("function", both(flaky()))
def test_what_passes_is_tried_again(function):
    def steps(crew):
        crew.start(task())
        return outcomes(crew, 1)
    assert play(function, 2, steps)["x"][0].payload == b"result"


def away(work):
    raise TimeoutError


@pytest.mark.parametrize("function", both(away))
def test_it_is_not_tried_again_for_a_partition_that_is_gone_nor_at_the_end(function):
    def steps(crew):
        gone, left = task("gone"), task("left")
        crew.start(gone)
        crew.start(left)
        gone.share.ours = False
        found = outcomes(crew, 1)
        crew.leave()
        return {**found, **outcomes(crew, 1)}
    assert play(function, 2, steps) == {"gone": LeftAlone, "left": LeftAlone}


def test_what_has_not_begun_does_not_begin_at_the_end():
    begun, go_on = threading.Event(), threading.Event()

    def function(work):
        begun.set()
        assert go_on.wait(LIMIT_S)
        return "result"

    def steps(crew):
        crew.start(task("begun"))
        assert begun.wait(LIMIT_S)
        crew.start(task("waits"))
        crew.leave()
        go_on.set()
        return outcomes(crew, 2)
    found = play(function, 1, steps)
    assert found["begun"][0].payload == b"result"
    assert found["waits"] is LeftAlone


def test_no_more_coroutines_than_asked_for():
    running, most = 0, 0

    async def function(work):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return "result"

    def steps(crew):
        for i in range(20):
            crew.start(task(str(i)))
        return outcomes(crew, 20)
    assert len(play(function, 4, steps)) == 20
    assert most == 4


def test_a_coroutine_that_cancels_itself_is_an_exception_about_its_payload():
    async def function(work):
        raise asyncio.CancelledError

    def steps(crew):
        crew.start(task())
        return outcomes(crew, 1)
    assert isinstance(play(function, 1, steps)["x"], asyncio.CancelledError)
