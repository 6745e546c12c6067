"""Replies of several instances to one query."""
from resequencer import Answers


def reply(instance, *parts, **more):
    return {"instance": instance, "partitions_total": 2, "partitions": list(parts), **more}


REFUSED = {"reason": "not_ready", "detail": "it restores"}
PARKED = {"reason": "offsets_moved", "detail": "set back", "first_step": "seek"}


def of(*replies):
    answers = Answers()
    for one in replies:
        answers.add(one)
    return answers


def test_complete_when_each_partition_has_an_answer():
    first = reply("1", {"partition": 0})
    assert not of(first).complete
    assert of(first).lacking == [1]
    assert not of(first, reply("2", {"partition": 1, "refused": REFUSED})).complete
    assert of(first, reply("2", {"partition": 1})).complete


def test_nobody_is_not_complete():
    assert not of().complete
    assert not of().all_asked
    assert "no instance answers" in of().why_lacking


def test_the_later_generation_is_right_whatever_comes_first():
    old, new = {"partition": 0, "generation": 3, "x": "old"}, {"partition": 0, "generation": 4, "x": "new"}
    for replies in ((reply("1", old), reply("2", new)), (reply("2", new), reply("1", old))):
        assert of(*replies).partitions[0]["x"] == "new"
        assert of(*replies).partitions[0]["instance"] == "2"


def test_an_answer_stands_above_a_refusal_and_a_later_position_above_an_earlier():
    refused = {"partition": 0, "generation": 9, "refused": REFUSED}
    assert "refused" not in of(reply("1", refused), reply("2", {"partition": 0, "generation": 1})).partitions[0]
    parts = [{"partition": 0, "generation": 1, "changelog_position": position} for position in (5, 4)]
    assert of(*(reply("1", part) for part in parts)).partitions[0]["changelog_position"] == 5


def test_a_query_about_one_document_asks_one_partition():
    assert of(reply("1", {"partition": 1}, partitions_asked=1)).all_asked
    assert not of(reply("1", {"partition": 1}, partitions_asked=2)).all_asked
    assert not of(reply("1", {"partition": 1})).all_asked


def test_what_is_parked_is_told_with_the_first_step():
    answers = of(reply("1", {"partition": 1, "refused": REFUSED, "parked": PARKED}, partitions_asked=1))
    assert answers.rest_is_parked and not answers.all_asked
    assert answers.why_lacking == "partition 1 is parked: offsets_moved: set back: seek"


def test_what_is_not_ready_is_told():
    assert "not_ready" in of(reply("1", {"partition": 1, "refused": REFUSED})).why_lacking


def test_a_refused_query_is_kept():
    answers = of({"instance": "1", "partitions_total": 2, "refused": {"reason": "unknown_query", "detail": "so"}})
    assert answers.refused == ("unknown_query", "so")
    assert not answers.replies


def test_what_is_no_answer_is_left_out():
    answers = of({"partitions_total": 10 ** 9, "partitions": [7, {"partition": "x"}, {"partition": True}, {}]},
                 {"partitions_total": "x", "partitions": "x"})
    assert answers.total == 10_000
    assert not answers.partitions
