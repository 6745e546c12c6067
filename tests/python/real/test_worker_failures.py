"""Workers that say what failed, at a resequencer that tries it again or gives it up."""
from application import FAST, TWO_TARGETS, InThread, request, wait_until
from resequencer import Permanent, Transient, Universal, Worker

FAILURES = ('dispatch.mode = "journal"\nfailures.mode = "retry"\nfailures.retries_max = 2\nfailures.backoff_ms = 200\n'
            'failures.repeats_max = 2\n')


def answer(work):
    if work.id == "locked" and work.attempt == 1:
        raise Transient("a lock")
    if work.id == "pdf":
        raise Permanent("no PDF")
    if work.id == "away":
        raise ConnectionRefusedError("port 9200")
    if work.id == "half" and work.attempt == 1:
        return [work.result("search", "half"), work.fail("a lock", kind="transient", target="catalogue")]
    return {"search": known[work.id], "catalogue": known[work.id]}  # also where one of them is done


known = {"good": "good", "locked": "locked", "half": "half"}


def letters_of(shop):
    return {one.id: one for one in shop.read("dead-letter")}


def test_what_failed_is_tried_again_or_given_up_by_what_its_exception_says(brokers, application):
    shop = application(more=FAILURES)
    worker = Worker(brokers, shop.name, answer, on_error="fail", failures={ConnectionError: Universal}, **FAST)
    with InThread(worker):
        sent = request(shop, "good", "locked", "half")
        request(shop, "pdf", "away", "crash")
        shop.wait_for(sent)
        letters = wait_until(lambda: len(found := letters_of(shop)) == 3 and found, "the dead letters")
    given_up = {id: (one.header("reseq-reason"), one.header("reseq-attempts"), one.header("reseq-error"),
                     one.header("reseq-targets")) for id, one in letters.items()}
    both = b"search,catalogue"
    assert given_up == {"pdf": (b"failed", b"1", b"no PDF", both),
                        "away": (b"failed", b"3", b"ConnectionRefusedError: port 9200", both),
                        "crash": (b"failed", b"2", b"KeyError: 'crash'", both)}
    attempts = {(one.id, one.header("reseq-attempt"), one.header("reseq-targets")) for one in shop.read("work")}
    assert ("half", b"2", b"catalogue") in attempts and ("locked", b"2", both) in attempts
    results = [(one.id, one.header("reseq-target")) for one in shop.read("commands")
               if one.header("reseq-command") == b"sequence"]
    assert sorted(results) == sorted((id, target) for id in known for target in (b"search", b"catalogue")), "each once"


def test_a_worker_says_nothing_of_the_targets_of_others(brokers, application):
    shop = application(more=FAILURES)
    fails = Worker(brokers, shop.name, answer, targets=["catalogue"], group=f"{shop.name}.catalogue", on_error="fail",
                   **FAST)
    with InThread(fails):
        request(shop, "pdf")
        wait_until(lambda: letters_of(shop), "the dead letter")
        with InThread(Worker(brokers, shop.name, lambda work: "text", targets=["search"], group=f"{shop.name}.search",
                             **FAST)):
            shop.wait_for({"pdf": 1}, ["search"])
    assert letters_of(shop)["pdf"].header("reseq-targets") == b"catalogue"
    failures = [one for one in shop.read("commands") if one.header("reseq-command") == b"fail"]
    assert [one.header("reseq-target") for one in failures] == [b"catalogue"]


def test_a_potent_target_is_tried_again_only_where_the_worker_says_that_nothing_was_done(brokers, application):
    shop = application(more=FAILURES + 'dispatch.attempts = "last"\n', targets=TWO_TARGETS + 'effect = "potent"\n')

    def pay(work):
        if work.attempt == 1 and work.id == "declined":
            raise Transient("a lock", effect="none")
        if work.attempt == 1 and work.id == "half":
            return [work.result("search", "half"),
                    work.fail("a lock", kind="transient", effect="none", target="catalogue")]
        if work.attempt == 1:
            raise Transient("no answer")
        return "paid"

    with InThread(Worker(brokers, shop.name, pay, on_error="fail", **FAST)):
        done = request(shop, "declined", "half")
        shop.wait_for(done)
        shop.wait_for(request(shop, "unsure"), ["search"])
        letter = wait_until(lambda: letters_of(shop).get("unsure"), "the dead letter")
    assert [letter.header(name) for name in ("reseq-reason", "reseq-error", "reseq-targets", "reseq-attempts")] == [
        b"effect_unknown", b"no answer", b"catalogue", b"1"]
    assert set(letters_of(shop)) == {"unsure"} and set(shop.newest("catalogue")) == {"declined", "half"}


def test_failures_are_refused_where_they_are_not_switched_on(brokers, application):
    shop = application()
    with InThread(Worker(brokers, shop.name, answer, on_error="fail", **FAST)):
        request(shop, "pdf")
        letter = wait_until(lambda: letters_of(shop).get("pdf"), "the dead letter")
    assert letter.header("reseq-reason") == b"unsupported_header"
