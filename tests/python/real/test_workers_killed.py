"""Workers as processes: killed in the middle of a rebalance, and stopped."""
import json
import random
import signal
import time

import pytest
from application import SESSION, request, wait_until
from resequencer import Producer


def changes(shop, count, versions, takes_s, first=1):
    """So many changes of each document; the newest sequence of each."""
    draw = random.Random(count)
    with Producer(shop.brokers, shop.name) as producer:
        for version in range(first, first + versions):
            for number in range(count):
                producer.send(f"it-{number}", version, json.dumps({"v": version, "takes_s": draw.uniform(0, takes_s)}))
    return {f"it-{number}": first + versions - 1 for number in range(count)}


def versions_until(shop, worker, other):
    """Versions of 300 documents, so many that `worker` gets one, however fast `other` is; the last version."""
    version = 1
    while not worker.begun():
        enough = 300 * version - 100
        wait_until(lambda enough=enough: worker.begun() or len(other.begun()) > enough, "some work")
        version += 1
        assert version < 100, worker.log.read_text()[-4000:]
        changes(shop, 300, 1, 0.2, first=version)
    return version


def test_nothing_is_lost_by_a_rebalance_and_a_kill(application, process):
    shop = application(work_partitions=6)
    first = process(shop, parallel=8, consumer_settings=SESSION)
    first.wait_for("assigned: 6 partitions")
    changes(shop, 300, 1, 0.2)
    wait_until(first.begun, "some work")
    second = process(shop, parallel=8, consumer_settings=SESSION)
    version = 2 + versions_until(shop, second, first)
    first.wait_for("revoked: 6 partitions")
    newest = changes(shop, 300, 2, 0.2, first=version - 1)
    first.signal(signal.SIGKILL)
    found = shop.wait_for(newest)
    assert all(json.loads(record.payload)["enriched"]["v"] == version for record in found.values())
    assert shop.read("dead-letter") == []
    assert first.ended() == -signal.SIGKILL
    second.signal(signal.SIGTERM)
    assert second.ended() == 0


def test_a_worker_with_a_name_that_died_goes_on_before_its_session_is_over(application, process):
    shop = application()
    named = {"session.timeout.ms": 120_000, "group.instance.id": "host-1"}
    first = process(shop, consumer_settings=named)
    first.wait_for("assigned: 1 partitions")
    request(shop, "first", payload='{"takes_s": 60}')
    wait_until(first.begun, "some work")
    died = time.monotonic()
    first.signal(signal.SIGKILL)
    assert first.ended() == -signal.SIGKILL
    second = process(shop, consumer_settings=named)
    wait_until(second.begun, "the same work")
    assert time.monotonic() - died < 60, "it waited for the session of the one that died"


@pytest.mark.parametrize("coroutines", [False, True])
def test_at_sigterm_what_has_begun_is_finished_and_committed(application, process, coroutines):
    shop = application()
    with Producer(shop.brokers, shop.name) as producer:
        for number in range(40):
            producer.send(f"it-{number}", 1, json.dumps({"takes_s": 0.5}))
    wait_until(lambda: len(shop.read("work")) == 40, "the work")
    worker = process(shop, parallel=4, commit_every_s=60, coroutines=coroutines)
    wait_until(lambda: len(worker.begun()) > 8, "some work")
    worker.signal(signal.SIGTERM)
    assert worker.ended() == 0
    begun = worker.begun()
    assert 8 < len(begun) < 40
    assert sorted(record.id for record in shop.read("commands")) == sorted(2 * begun)  # for two targets, once each
    done = {record.id for record in shop.read("work") if record.offset < shop.committed()[0]}
    # Two of them may begin in another order than that of the offsets: what is behind a gap comes again.
    assert done <= set(begun) and len(done) > len(begun) - 4
