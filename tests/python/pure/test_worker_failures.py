"""Workers whose function fails. When a broker acknowledges, and what it refuses, is what a test says, so its clients
are stand-ins here."""
import asyncio
import threading

import pytest
import resequencer.worker
from application import wait_until
from confluent_kafka import KafkaError
from resequencer import Permanent, Transient, Universal, Worker
from stand_ins import Message, Reader, Sender, use

LIMIT_S = 10
ERRORS = {"d0": Permanent("no PDF"), "d1": ConnectionError("refused"), "d2": KeyError("price")}


def failing(work):
    raise ERRORS[work.id]


async def failing_coroutine(work):
    raise ERRORS[work.id]


def run(worker, until, coroutines=False):
    """Until what shall hold does."""
    runs = (lambda: asyncio.run(worker.run_async())) if coroutines else worker.run
    thread = threading.Thread(target=runs, daemon=True)
    thread.start()
    wait_until(until, lambda: worker.counts)
    worker.stop()
    thread.join(LIMIT_S)
    assert not thread.is_alive()


@pytest.fixture
def clients(monkeypatch):
    reader, sender = Reader([Message(offset, [("reseq-attempt", b"2")]) for offset in range(3)]), Sender()
    use(monkeypatch, reader, sender)
    return reader, sender


@pytest.mark.parametrize("function", [failing, failing_coroutine])
def test_exceptions_become_failures_of_their_documents_and_the_worker_goes_on(clients, function):
    reader, sender = clients
    worker = Worker("nowhere", "shop", function, on_error="fail", failures={ConnectionError: Universal},
                    commit_every_s=0)
    run(worker, lambda: reader.committed[-1:] == [3], coroutines=function is failing_coroutine)
    said = {key: headers for key, headers in zip(sender.sent, sender.headers)}
    assert len(sender.sent) == 3 and worker.counts.failed == 3
    common = {"reseq-seq": b"1", "reseq-targets": b"search", "reseq-attempt": b"2", "reseq-command": b"fail",
              "reseq-target": b"*"}
    for key, kind, scope, error in ((b"d0", b"permanent", b"document", b"no PDF"),
                                    (b"d1", b"transient", b"universal", b"ConnectionError: refused"),
                                    (b"d2", b"unknown", b"document", b"KeyError: 'price'")):
        assert said[key] == {**common, "reseq-failure": kind, "reseq-failure-scope": scope, "reseq-error": error}


def test_nothing_was_done_is_said_only_of_the_document_whose_exception_says_so(clients):
    _, sender = clients

    def declined(work):
        raise Transient("a lock", effect="none") if work.id == "d1" else Transient("a lock")

    worker = Worker("nowhere", "shop", declined, on_error="fail", commit_every_s=0)
    run(worker, lambda: worker.counts.results == 3)
    assert {key: headers.get("reseq-effect") for key, headers in zip(sender.sent, sender.headers)} == {
        b"d0": None, b"d1": b"none", b"d2": None}


def test_what_passes_by_itself_is_not_tried_again_here(clients):
    _, sender = clients
    calls = []

    def refused(work):
        calls.append(work.id)
        raise TimeoutError("60 s")

    worker = Worker("nowhere", "shop", refused, on_error="fail", retry_after_s=0, commit_every_s=0)
    run(worker, lambda: worker.counts.results == 3)
    assert sorted(calls) == ["d0", "d1", "d2"]
    assert {headers["reseq-failure"] for headers in sender.headers} == {b"transient"}


def test_nothing_is_committed_whose_failure_is_not_in_the_log(clients):
    reader, sender = clients
    sender.held_back = {b"d1"}
    worker = Worker("nowhere", "shop", failing, on_error="fail", commit_every_s=0, stop_within_s=0.1)
    run(worker, lambda: worker.counts.results == 2)
    assert reader.committed == [1]


def test_a_failure_that_is_too_large_itself_ends_the_worker(clients):
    reader, sender = clients
    sender.error = KafkaError(KafkaError.MSG_SIZE_TOO_LARGE)
    worker = Worker("nowhere", "shop", failing, on_error="fail", commit_every_s=0, stop_within_s=0.1)
    with pytest.raises(resequencer.worker.KafkaException):
        worker.run()
    assert reader.committed == [] and len(sender.sent) == 3
