"""Workers between a real resequencer and its `commands`: what they answer, and what they commit."""
import asyncio
import json

import pytest
from application import FAST, InThread, committed, request, unique, wait_until
from resequencer import DELETE, Producer, Worker


def echo(work):
    return work.payload


def test_key_and_headers_are_copied_and_empty_is_not_null(brokers, application):
    shop = application()
    with InThread(Worker(brokers, shop.name, echo, **FAST)):
        with Producer(brokers, shop.name) as producer:
            producer.send("empty", 1, b"", headers={"reseq-invented": "new", "traceparent": "00-1", "mine": None})
            producer.send("gone", 1, "here", targets=["search"])
            producer.send(b"bytes", 1, b"\x00\xff")
        shop.wait_for({"empty": 1, "bytes": 1})
        shop.wait_for({"gone": 1}, ["search"])
        with Producer(brokers, shop.name) as producer:
            producer.delete("gone", 2)
        newest = shop.wait_for({"gone": 2, "empty": 1})
    assert newest["gone"].payload is None and newest["gone"].header("reseq-op") == b"delete"
    assert newest["empty"].payload == b"" and newest["empty"].header("reseq-op") is None
    assert newest["bytes"].payload == b"\x00\xff"
    results = [record for record in shop.read("commands") if record.id == "empty"]
    assert {record.header("reseq-target") for record in results} == {b"search", b"catalogue"}
    work, = [record for record in shop.read("work") if record.id == "empty"]
    for record in results:
        assert record.headers[:-2] == work.headers
        assert ("reseq-invented", b"new") in record.headers and ("mine", None) in record.headers
    assert newest["empty"].header("reseq-invented") == b"new"
    assert shop.read("dead-letter") == []


def test_work_for_other_targets_is_passed_over(brokers, application):
    shop = application()
    worker = Worker(brokers, shop.name, echo, targets=["search"], **FAST)
    with InThread(worker):
        sent = request(shop, "both")
        with Producer(brokers, shop.name) as producer:
            producer.send("other", 1, "x", targets=["catalogue"])
        shop.wait_for(sent, ["search"])
        wait_until(lambda: shop.committed() == {0: shop.read("work")[-1].offset + 1}, "all of it committed")
    assert worker.counts.passed_over == 1
    assert [record.id for record in shop.read("commands")] == ["both"]


def test_with_tap_requests_are_work_and_a_reset_is_none(brokers, application):
    shop = application(more='intake = "tap"\n', targets='[[target]]\nname = "search"\n')
    worker = Worker(brokers, shop.name, echo, targets=["search"], work_topic=shop.topic("requests"), **FAST)
    with InThread(worker):
        with Producer(brokers, shop.name) as producer:
            producer.send("reset", 1, "x", headers={"reseq-control": "reset"})
        shop.wait_for(request(shop, "order"), ["search"])
    assert [record.id for record in shop.read("commands")] == ["order"]


def test_coroutines_answer_many_at_once(brokers, application):
    shop = application()
    running, most = 0, 0

    async def enrich(work):
        nonlocal running, most
        running, most = running + 1, max(most, running + 1)
        while most < 50:  # the first ones wait for each other
            await asyncio.sleep(0.01)
        running -= 1
        if work.id == "it-7":
            raise ValueError("no use")
        return {"search": json.dumps({"id": work.id}), "catalogue": DELETE}

    async def main():
        worker = Worker(brokers, shop.name, enrich, parallel=50, on_error="skip", **FAST)
        running = asyncio.create_task(worker.run_async())
        await asyncio.to_thread(shop.wait_for, sent)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return worker

    sent = request(shop, *(f"it-{i}" for i in range(100)))
    del sent["it-7"]
    worker = asyncio.run(main())
    assert most == 50
    assert (worker.counts.results, worker.counts.failed) == (198, 1)
    assert json.loads(shop.newest("search")["it-3"].payload) == {"id": "it-3"}
    assert shop.newest("catalogue")["it-3"].payload is None


def test_functions_and_coroutines_are_not_mixed_up(brokers, application):
    shop = application()

    async def coroutine(work):
        return "x"

    with pytest.raises(TypeError, match="run_async"):
        Worker(brokers, shop.name, coroutine).run()
    with pytest.raises(TypeError, match="no coroutine function"):
        asyncio.run(Worker(brokers, shop.name, echo).run_async())


def test_a_document_becomes_several(brokers, application):
    shop = application()

    def split(work):
        for number, text in enumerate(work.payload.decode().split(), 1):
            part = f"{work.id}/{number}"
            yield work.register(work.targets, id=part)
            yield from (work.result(target, text, id=part) for target in work.targets)
        yield work.unregister("*")

    with InThread(Worker(brokers, shop.name, split, **FAST)):
        with Producer(brokers, shop.name) as producer:
            producer.send("book", 3, "one two", headers={"reseq-id": "book"})
        newest = shop.wait_for({"book/1": 3, "book/2": 3})
    assert [newest[f"book/{i}"].payload for i in (1, 2)] == [b"one", b"two"]
    assert "book" not in newest
    assert shop.read("dead-letter") == []


def test_a_group_of_its_own_goes_on_where_it_was(brokers, application):
    shop = application()
    group = unique("group")
    for seq in (1, 2):
        worker = Worker(brokers, shop.name, echo, group=group, **FAST)
        with InThread(worker):
            shop.wait_for(request(shop, "order", seq=seq))
            wait_until(lambda: worker.counts.results == 2, lambda: worker.counts)
        assert worker.counts.records == 1
    assert committed(brokers, group, shop.topic("work"))[0] > 0
