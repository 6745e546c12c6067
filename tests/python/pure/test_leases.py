"""When a lease is renewed and when it is lost, by a clock of the test."""
import pytest
from resequencer.leases import Lease, heartbeat_headers, lease_of

WRITTEN = 1_000_000


def lease(since=0, length=6_000):
    return Lease(WRITTEN + since + length, length)


def until(value):
    return [("reseq-seq", b"1"), ("reseq-lease-until", value)]


def test_a_lease_is_as_long_as_from_the_record_to_its_end():
    assert lease_of(until(b"1006000"), WRITTEN, WRITTEN + 4_000) == lease()


@pytest.mark.parametrize("written", [0, 1_006_000, 2_000_000])
def test_it_is_what_is_left_where_the_record_says_no_time(written):
    assert lease_of(until(b"1006000"), written, WRITTEN + 4_000) == Lease(1_006_000, 2_000)


def test_one_that_is_over_has_no_length():
    assert lease_of(until(b"1006000"), 0, 3_000_000) == Lease(1_006_000, 0)


@pytest.mark.parametrize("value", [b"", b"soon", b"0", b"-1", b"1.5", None])
def test_where_no_date_stands_there_is_none(value):
    assert lease_of(until(value), WRITTEN, WRITTEN) is None
    assert lease_of([("reseq-seq", b"1")], WRITTEN, WRITTEN) is None


def test_it_is_renewed_after_a_third_and_left_a_sixth_before_its_end():
    assert (lease().beat_at_ms, lease().stop_at_ms) == (WRITTEN + 2_000, WRITTEN + 5_000)
    assert not lease().is_due(WRITTEN + 1_999) and lease().is_due(WRITTEN + 2_000)


def test_it_is_left_at_most_ten_seconds_before_its_end():
    assert lease(length=3_600_000).stop_at_ms == WRITTEN + 3_590_000


def test_it_goes_on_from_when_the_heartbeat_was_sent():
    one = lease()
    one.sent(WRITTEN + 2_000)
    assert not one.is_due(WRITTEN + 4_000), "the last one is on its way"
    one.told(True, WRITTEN + 4_900)
    assert one.until_ms == WRITTEN + 8_000
    assert one.is_due(WRITTEN + 4_900)


def test_a_heartbeat_that_failed_renews_nothing_and_is_sent_again():
    one = lease()
    one.sent(WRITTEN + 2_000)
    one.told(False, WRITTEN + 2_050)
    assert one.until_ms == WRITTEN + 6_000
    assert not one.is_due(WRITTEN + 2_149) and one.is_due(WRITTEN + 2_150)


def test_a_heartbeat_says_which_attempt_it_is_about():
    work = [("reseq-seq", b"17"), ("reseq-epoch", b"2"), ("reseq-revision", b"3"), ("reseq-attempt", b"4"),
            ("reseq-op", b"delete"), ("traceparent", b"x"), ("mine", None)]
    assert heartbeat_headers(work) == [("reseq-command", b"heartbeat"), ("reseq-seq", b"17"), ("reseq-epoch", b"2"),
                                       ("reseq-revision", b"3"), ("reseq-attempt", b"4")]
    assert heartbeat_headers([("reseq-seq", b"17")]) == [("reseq-command", b"heartbeat"), ("reseq-seq", b"17")]
