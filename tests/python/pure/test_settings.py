"""Settings that would break the contract are refused, and so is what fits nothing."""
import re
from pathlib import Path

import pytest
import resequencer
from resequencer import Admin, Producer, Worker, confluent
from resequencer.confluent import open_consumer, open_producer

NOBODY = "127.0.0.1:1"
ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name, value", [("enable.idempotence", False), ("partitioner", "consistent_random")])
def test_a_producer_stays_idempotent_and_partitions_as_it_was_told(name, value):
    with pytest.raises(ValueError, match=f"{name} is"):
        open_producer(NOBODY, "murmur2_random", {}, {name: value})


@pytest.mark.parametrize("name, value", [("isolation.level", "read_uncommitted"), ("enable.auto.commit", True)])
def test_a_consumer_reads_what_is_committed_and_commits_itself(name, value):
    with pytest.raises(ValueError, match=f"{name} is"):
        open_consumer(NOBODY, "group", {name: value})


def test_every_client_sends_small_requests_at_once(monkeypatch):
    opened = []
    for name in ("Producer", "Consumer"):
        monkeypatch.setattr(confluent.confluent_kafka, name, opened.append)
    monkeypatch.setattr(confluent, "AdminClient", opened.append)
    open_producer(NOBODY, "murmur2_random", {}, None)
    open_consumer(NOBODY, "group", None)
    with pytest.raises(AttributeError):  # nobody answers
        confluent.sizes_of(NOBODY, ["shop.work"], None)
    assert [settings["socket.nagle.disable"] for settings in opened] == [True] * 3


def test_the_same_value_may_be_said_again():
    open_consumer(NOBODY, "group", {"isolation.level": "read_committed", "enable.auto.commit": "false"}).close()


@pytest.mark.parametrize("wrong, why", [
    ({"on_error": "ignore"}, "stop, skip, unregister, fail"), ({"letters": "shop.letters"}, "letters are not for"),
    ({"failures": {}}, "failures are for"), ({"parallel": 0}, "at least 1"),
    ({"partitioner": "java"}, "murmur2 or crc32")])
def test_a_worker_says_what_fits_nothing(wrong, why):
    with pytest.raises(ValueError, match=why):
        Worker(NOBODY, "shop", lambda work: "", **wrong)


def test_targets_are_several():
    with pytest.raises(TypeError, match="targets are several"):
        Worker(NOBODY, "shop", lambda work: "", targets="search")


def test_a_question_has_a_limit():
    with pytest.raises(ValueError, match="at most 60"):
        Admin(NOBODY, "shop", timeout_s=61)


def test_a_payload_is_not_none():
    with pytest.raises(TypeError, match="delete"):
        Producer.__new__(Producer).send("x", 1, None)


def test_the_version_is_that_of_the_project():
    version = re.search(r"project\(resequencer VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert resequencer.__version__ == version.group(1)


def test_all_that_is_offered_is_there_and_told_of():
    readme = (ROOT / "clients/python/README.md").read_text()
    for name in resequencer.__all__:
        assert hasattr(resequencer, name)
    for name in ("Producer", "Worker", "Sink", "Admin", "partition_of", "DELETE", "UNREGISTER", "Transient",
                 "Permanent", "Universal"):
        assert f"`{name}" in readme, name
