"""What a producer writes on a request."""
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
