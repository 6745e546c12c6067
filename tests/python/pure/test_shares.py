"""What may be committed."""
import random

from resequencer.shares import Share, Shares


def test_nothing_behind_a_record_that_is_not_finished():
    share = Share()
    for offset in (5, 6, 9):
        share.start(offset)
    share.finish(6)
    share.finish(9)
    assert share.ready is None
    share.finish(5)
    assert share.ready == 10


def test_in_any_order_all_ends_behind_the_last():
    draw = random.Random(1)
    for _ in range(200):
        offsets = sorted(draw.sample(range(100), draw.randint(1, 20)))
        share = Share()
        for offset in offsets:
            share.start(offset)
        open_ones = set(offsets)
        for offset in draw.sample(offsets, len(offsets)):
            share.finish(offset)
            open_ones.remove(offset)
            first = min(open_ones, default=100)
            done = [one for one in offsets if one < first]
            assert share.ready == (done[-1] + 1 if done else None)


def test_what_is_read_again_is_not_started_again():
    share = Share()
    assert share.start(5) and share.start(6)
    share.finish(5)
    assert not share.start(5) and not share.start(6)
    share.finish(6)
    assert share.ready == 7
    assert share.start(7)


def test_what_is_committed_is_not_ready_again():
    shares = Shares()
    shares.add([("work", 0)])
    share = shares.get(("work", 0))
    share.start(3)
    share.finish(3)
    assert shares.ready() == [("work", 0, 4)]
    shares.committed(("work", 0), 4)
    assert shares.ready() == []


def test_a_partition_that_went_and_came_back_is_another_share():
    shares = Shares()
    shares.add([("work", 0), ("work", 1)])
    before = shares.get(("work", 0))
    before.start(3)
    shares.forget([("work", 0), ("work", 7)])
    assert not before.ours and shares.get(("work", 0)) is None and shares.get(("work", 1)).ours
    shares.add([("work", 0)])
    before.finish(3)
    assert shares.ready() == []
    shares.committed(("work", 5), 1)  # of one that is not ours: nothing
