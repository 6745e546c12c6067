"""Workers between a real resequencer and its `commands`: payloads that cannot be used, deletes that have to be said,
bounds."""
import threading

from application import FAST, InThread, log_of, make_topic, request, unique, wait_until
from resequencer import DELETE, UNREGISTER, Admin, Producer, Worker, WorkFailed


def echo(work):
    return work.payload


def picky(work):
    """Some payloads are of no use."""
    if b"bad" in work.payload:
        raise ValueError("no use")
    return b"x" * 18_000_000 if work.payload == b"large" else work.payload


def test_deletes_have_to_be_said_where_they_have_to(brokers, application):
    shop = application(more='deletes = "explicit"\n')
    answers = {"kept": None, "dropped": DELETE, "first": "text", "none": UNREGISTER}
    letters = make_topic(brokers, unique("letters"))
    worker = Worker(brokers, shop.name, lambda work: answers[work.id], on_error="skip", letters=letters, **FAST)
    with InThread(worker):
        request(shop, *answers)
        newest = shop.wait_for({"dropped": 1, "first": 1})
        with Producer(brokers, shop.name) as producer:
            producer.delete("first", 2)
        newest = shop.wait_for({"first": 2})
        wait_until(lambda: worker.counts.results == 8 and worker.counts.failed == 1, lambda: worker.counts)
    assert newest["first"].payload is None
    assert shop.newest("search")["dropped"].payload is None
    assert not {"kept", "none"} & set(shop.newest("search"))
    assert [letter.id for letter in log_of(brokers, letters)] == ["kept"]
    assert shop.read("dead-letter") == []


def test_a_payload_that_cannot_be_used_is_told_of_and_stops_no_other(brokers, application):
    shop = application()
    letters = make_topic(brokers, unique("letters"))
    worker = Worker(brokers, shop.name, picky, on_error="skip", letters=letters, **FAST)
    with InThread(worker):
        good = request(shop, *(f"good-{i}" for i in range(20)))
        request(shop, "bad", payload="bad")
        request(shop, "huge", payload="large")
        good.update(request(shop, *(f"later-{i}" for i in range(20))))
        shop.wait_for(good)
        wait_until(lambda: shop.committed() == {0: shop.read("work")[-1].offset + 1}, "all of it committed")
    told = {letter.id: letter for letter in log_of(brokers, letters)}
    assert set(told) == {"bad", "huge"}
    assert told["bad"].header("error") == b"ValueError('no use')" and told["bad"].payload is None
    assert told["bad"].header("place").startswith(f"{shop.name}.work[0]@".encode())
    assert told["bad"].header("reseq-seq") == b"1"
    assert b"MSG_SIZE_TOO_LARGE" in told["huge"].header("error")
    with Admin(brokers, shop.name, timeout_s=60) as admin:
        assert admin.document("bad")["state"] == "live"  # goes on waiting


def test_results_keep_to_what_their_topic_takes(brokers, application):
    """Together they are more than one record may be; alone only the large one is."""
    shop = application(more="init.max_message_bytes = 50000\n")
    letters = make_topic(brokers, unique("letters"))
    worker = Worker(brokers, shop.name, lambda work: work.payload * (60 if work.id == "large" else 2), on_error="skip",
                    letters=letters, settings={"linger.ms": 200}, **FAST)
    with InThread(worker):
        sent = request(shop, *(f"it-{i}" for i in range(100)), payload="x" * 1000)
        request(shop, "large", payload="x" * 1000)
        shop.wait_for(sent)
        wait_until(lambda: log_of(brokers, letters), "the letter")
    assert {letter.id for letter in log_of(brokers, letters)} == {"large"}


def test_what_cannot_be_used_may_be_given_up(brokers, application):
    shop = application()
    worker = Worker(brokers, shop.name, picky, on_error="unregister", **FAST)
    with InThread(worker), Admin(brokers, shop.name, timeout_s=60) as admin:
        request(shop, "bad", payload="bad")
        known = wait_until(lambda: (found := admin.document("bad")) and found["state"] == "completed" and found, "it")
        assert sorted(known["groups"][0]["removed"]) == ["catalogue", "search"]
    assert worker.counts.failed == 1 and worker.counts.results == 2


def test_a_worker_that_stops_at_it_commits_no_further_and_another_goes_on_there(brokers, application):
    shop = application()
    before = request(shop, *(f"before-{i}" for i in range(5)))
    wait_until(lambda: len(shop.read("work")) == 5, "the work")
    request(shop, "bad", payload="bad")
    worker = Worker(brokers, shop.name, picky, parallel=4, **FAST)
    running = InThread(worker)
    running.wait()
    assert isinstance(running.error, WorkFailed) and isinstance(running.error.__cause__, ValueError)
    assert "'bad'" in str(running.error)
    shop.wait_for(before)
    offsets = {record.id: record.offset for record in shop.read("work")}
    last_before = max(offset for id, offset in offsets.items() if id != "bad")
    assert last_before < shop.committed()[0] <= offsets["bad"]  # markers of transactions have offsets, too
    with InThread(Worker(brokers, shop.name, echo, **FAST)):
        shop.wait_for({**before, "bad": 1})


def test_what_is_held_is_bounded_by_number_and_bytes(brokers, application):
    shop = application(targets='[[target]]\nname = "search"\n')
    sent = request(shop, *(f"it-{i}" for i in range(20)), payload="x" * 1000)
    wait_until(lambda: len(shop.read("work")) == 20, "the work")
    for bound, most in (({"held_max": 5}, lambda counts: counts.held_most == 5),
                        ({"held_bytes_max": 4000}, lambda counts: 4000 <= counts.held_bytes_most < 6000)):
        go_on = threading.Event()
        worker = Worker(brokers, shop.name, lambda work: go_on.wait(100) and work.payload, parallel=2,
                        group=unique("group"), **bound, **FAST)
        with InThread(worker):
            wait_until(lambda: most(worker.counts), lambda: f"{bound}: {worker.counts}")
            go_on.set()
            wait_until(lambda: worker.counts.results == 20, lambda: worker.counts)
        assert most(worker.counts), worker.counts
    shop.wait_for(sent, ["search"])
