"""What a producer writes on a request."""
from datetime import datetime, timedelta, timezone

import pytest
from resequencer import Producer


def test_a_tag_is_the_key_and_the_sequence():
    assert Producer.tag("order-6", 17) == {"key": b"order-6", "headers": [("reseq-seq", b"17")]}


def test_a_tag_has_all_that_is_said():
    tag = Producer.tag(b"\xff", "16/B374D848", op="delete", targets=["search", "catalogue"], epoch=2, reprocess=True,
                       headers={"traceparent": "00-1", "null": None})
    assert tag == {"key": b"\xff", "headers": [
        ("traceparent", b"00-1"), ("null", None), ("reseq-seq", b"16/B374D848"), ("reseq-epoch", b"2"),
        ("reseq-op", b"delete"), ("reseq-targets", b"search,catalogue"), ("reseq-reprocess", b"true")]}


def test_what_a_tag_says_replaces_headers_of_that_name():
    assert Producer.tag("x", 2, headers=[("reseq-seq", "1")])["headers"] == [("reseq-seq", b"2")]


def test_one_target_may_be_a_text():
    assert ("reseq-targets", b"search") in Producer.tag("x", 1, targets="search")["headers"]


@pytest.mark.parametrize("seq", [1.5, True, None])
def test_what_is_no_sequence_is_refused(seq):
    with pytest.raises(TypeError, match="a sequence is"):
        Producer.tag("x", seq)


def test_what_is_empty_is_refused():
    with pytest.raises(ValueError, match="sequence must not be empty"):
        Producer.tag("x", "")
    with pytest.raises(ValueError, match="name one at least"):
        Producer.tag("x", 1, targets=[])


def test_a_tag_says_how_urgent_a_request_is():
    tag = Producer.tag("x", 1, priority=0, process_at=1_714_564_800_000, expires_at="2024-05-01T12:00:00Z")
    assert tag["headers"] == [("reseq-seq", b"1"), ("reseq-priority", b"0"),
                              ("reseq-process-at", b"1714564800000"), ("reseq-expires-at", b"2024-05-01T12:00:00Z")]


def test_a_date_with_a_zone_is_milliseconds():
    date = datetime(2024, 5, 1, 14, 0, 0, 999_999, timezone(timedelta(hours=2)))
    assert ("reseq-process-at", b"1714564800999") in Producer.tag("x", 1, process_at=date)["headers"]


def test_a_date_without_a_zone_is_refused():
    with pytest.raises(ValueError, match="process_at: a date needs a zone"):
        Producer.tag("x", 1, process_at=datetime(2024, 5, 1))


@pytest.mark.parametrize("date", [1.5, True])
def test_what_is_no_date_is_refused(date):
    with pytest.raises(TypeError, match="expires_at is milliseconds"):
        Producer.tag("x", 1, expires_at=date)


def test_what_is_no_priority_is_refused():
    for priority in (-1, 256):
        with pytest.raises(ValueError, match="priority is 0 to 255"):
            Producer.tag("x", 1, priority=priority)
    with pytest.raises(TypeError, match="priority is an int"):
        Producer.tag("x", 1, priority=True)


def test_a_deletion_does_not_expire():
    with pytest.raises(ValueError, match="a deletion does not expire"):
        Producer.tag("x", 1, op="delete", expires_at=1)
