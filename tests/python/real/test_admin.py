"""Questions to real instances."""
import json
import threading

import pytest
from application import ROOT, InThread, wait_until
from confluent_kafka import Producer as Plain
from jsonschema import Draft202012Validator
from resequencer import Admin, NotAnswered, Permanent, Producer, QueryRefused, Worker
from resequencer.answers import Answers

SCHEMA = json.loads((ROOT / "schemas/admin.replies.schema.json").read_text())
IDS = ["order-6", "größe", b"\xff\x00", *(f"it-{i}" for i in range(30))]


@pytest.fixture
def shop(brokers, application):
    shop = application(more="init.partitions = 3\n")
    with Producer(brokers, shop.name) as producer:
        for one in IDS:
            producer.send(one, 7, "x")
    wait_until(lambda: len(shop.read("work")) == len(IDS), "the work")
    return shop


def check(name, value):
    Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]}).validate(value)


def test_documents_and_numbers_are_asked_for(brokers, shop):
    with Admin(brokers, shop.name, timeout_s=30) as admin:
        for one in IDS[:3]:
            known = admin.document(one)
            check("document", known)
            assert known["groups"][0]["order"]["seq"] == "7" and known["state"] == "live"
        assert admin.document("never seen") is None
        stats = admin.stats()
        assert sorted(stats.partitions) == [0, 1, 2] and stats.complete
        for part in stats.partitions.values():
            check("partition", part)
        assert sum(part["documents"]["live"] for part in stats.partitions.values()) == len(IDS)
        assert sum(part["outcomes"]["forwarded"]["none"] for part in stats.partitions.values()) == len(IDS)
        assert admin.topology().complete
        instance, = admin.config().replies.values()
        assert f'application.id = "{shop.name}"' in instance["toml"]

        listed = list(admin.documents(page=4))
        assert len(listed) == len(IDS)
        assert {one.get("id") for one in listed} == {one for one in IDS if isinstance(one, str)} | {None}
        assert [one["id"] for one in admin.documents(id_prefix="größe")] == ["größe"]
        assert list(admin.documents("completed")) == []
        with InThread(Worker(brokers, shop.name, lambda work: work.payload, commit_every_s=0.1)):
            wait_until(lambda: len(list(admin.documents("completed"))) == len(IDS), "all answered")


def test_documents_that_failed_are_asked_for_by_their_error(brokers, application):
    shop = application(more="[dispatch]\nmode = \"journal\"\n[failures]\nmode = \"retry\"\nbackoff_ms = 600000\n"
                            "backoff_max_ms = 600000\nretries_max = 1\n")
    with Producer(brokers, shop.name) as producer:
        for one in ("scan", "huge"):
            producer.send(one, 7, "x")
    wait_until(lambda: len(shop.read("work")) == 2, "the work")

    def fail(work):
        raise Permanent("no PDF" if work.id == "scan" else "out of memory")

    with Admin(brokers, shop.name, timeout_s=30) as admin, \
            InThread(Worker(brokers, shop.name, fail, on_error="fail", commit_every_s=0.1)):
        wait_until(lambda: len(list(admin.documents("failed"))) == 2, "the failures")
        failed, = admin.documents("failed", error="no PDF")
        check("document", failed)
        assert failed["id"] == "scan"
        assert list(admin.documents("failed", error="no pdf")) == []
        assert list(admin.documents("retrying", error="no PDF")) == []
        with pytest.raises(QueryRefused, match="error is for state retrying or failed"):
            list(admin.documents("live", error="no PDF"))


def test_answers_to_others_are_not_taken(brokers, shop):
    stop = threading.Event()
    others = Plain({"bootstrap.servers": brokers})
    lie = json.dumps({"protocol": 1, "query": "document", "application": shop.name, "instance": "liar", "version": "1",
                      "time": "2024-01-01T00:00:00Z", "partitions_total": 3, "partitions_asked": 1,
                      "partitions": [{"partition": 0, "generation": 10 ** 9, "documents": []}]})

    def disturb():
        while not stop.wait(0.001):
            for headers in ([], [("reseq-correlation-id", "0" * 32)], [("reseq-correlation-id", None)]):
                others.produce(shop.topic("admin.replies"), lie, headers=headers)
            others.produce(shop.topic("admin.replies"), "garbage")
            others.poll(0)

    disturber = threading.Thread(target=disturb)
    disturber.start()
    try:
        with Admin(brokers, shop.name, timeout_s=30) as admin, Admin(brokers, shop.name, timeout_s=30) as second:
            for one in IDS[:3] * 3:
                assert admin.document(one)["groups"][0]["order"]["seq"] == "7"
                assert second.document("never seen") is None
            assert "liar" not in admin.stats().replies
    finally:
        stop.set()
        disturber.join()
        others.flush(60)


def test_what_is_refused_and_what_nobody_answers_is_told(brokers, shop):
    with Admin(brokers, shop.name, timeout_s=30) as admin:
        with pytest.raises(QueryRefused, match="unknown_query") as refused:
            admin._collect({"query": "weather"}, lambda answers: answers.complete)
        assert refused.value.reason == "unknown_query"
        answers = Answers()
        with pytest.raises(ValueError, match="1 to 4096"):
            admin.document("")
        assert not answers.complete
    shop.stop()
    with Admin(brokers, shop.name, timeout_s=1) as admin, pytest.raises(NotAnswered, match="no instance answers"):
        admin.document("order-6")
