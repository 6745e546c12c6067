"""What becomes of the answer of a worker's function."""
import pytest
from resequencer import DELETE, UNREGISTER, Work
from resequencer.work import commands_of, deletion_of

HEADERS = (("traceparent", b"00-1"), ("reseq-id", b"book"), ("reseq-seq", b"3"), ("reseq-epoch", b"0"),
           ("reseq-targets", b"search,catalogue"), ("reseq-invented", b"\xff"), ("null", None))


def work(payload=b"text", headers=HEADERS, targets=("search", "catalogue")):
    return Work(b"book", payload, headers, targets, "shop.work", 2, 7)


def test_all_headers_are_copied_known_or_not():
    for command, target in zip(commands_of(work(), "result"), (b"search", b"catalogue")):
        assert command.key == b"book"
        assert command.payload == b"result"
        assert command.headers == [*HEADERS, ("reseq-command", b"sequence"), ("reseq-target", target)]


def test_answers_by_target_are_for_these():
    commands = commands_of(work(), {"catalogue": b"", "search": DELETE})
    assert [(one.target, one.payload) for one in commands] == [("search", None), ("catalogue", b"")]


def test_delete_is_said():
    headers = commands_of(work(headers=HEADERS + (("reseq-op", b"upsert"),)), DELETE)[0].headers
    assert [one for one in headers if one[0] == "reseq-op"] == [("reseq-op", b"delete")]


def test_an_empty_payload_deletes_nothing():
    for command in commands_of(work(), b""):
        assert command.payload == b""
        assert "reseq-op" not in dict(command.headers)


def test_unregister_is_for_each_target():
    assert [dict(one.headers)["reseq-command"] for one in commands_of(work(), UNREGISTER)] == [b"unregister"] * 2
    assert [dict(one.headers)["reseq-target"] for one in commands_of(work(), UNREGISTER)] == [b"search", b"catalogue"]


@pytest.mark.parametrize("answer", [None, 7, [], ["text"], {"search": None, "catalogue": "x"}, bytearray(b"x")])
def test_what_is_no_answer_is_refused(answer):
    with pytest.raises(TypeError):
        commands_of(work(), answer)


@pytest.mark.parametrize("answer", [{"search": "x"}, {}, {"search": "x", "feed": "x"}])
def test_a_target_is_not_left_out_in_silence(answer):
    with pytest.raises(ValueError, match="the answer is for"):
        commands_of(work(), answer)


RETRIED = tuple(one for one in HEADERS if one[0] != "reseq-targets") + (("reseq-targets", b"catalogue"),)


def retried():
    return work(headers=RETRIED, targets=("catalogue",))


@pytest.mark.parametrize("answer", [
    lambda one: {"search": "x", "catalogue": "x"},
    lambda one: [one.result("search", "x"), one.result("catalogue", "x")],
    lambda one: [one.fail("locked", target="search"), one.result("catalogue", "x"), one.unregister("feed")]])
def test_what_is_for_targets_that_are_done_is_left_out(answer):
    assert [(one.target, one.payload) for one in commands_of(retried(), answer(retried()))] == [("catalogue", b"x")]


@pytest.mark.parametrize("answer", [
    lambda one: one.result("serach", "x"), lambda one: [one.fail("locked", target="search"), one.unregister("feed")]])
def test_an_answer_that_is_for_none_of_the_targets_is_a_mistake(answer):
    with pytest.raises(ValueError, match="the answer is for .*, the work for catalogue"):
        commands_of(retried(), answer(retried()))


def test_what_an_answer_registers_and_what_is_for_all_or_for_other_documents_stays():
    one = retried()
    answer = [one.register(["feed", "shelf"]), one.result("shelf", "x"), one.result("search", "x", id="book/1"),
              one.unregister()]
    assert commands_of(one, answer) == answer


def test_an_answer_may_be_for_any_target_where_the_work_lists_none():
    one = work(headers=HEADERS[:4])
    assert [command.target for command in commands_of(one, one.result("feed", "x"))] == ["feed"]


def test_another_document_has_another_key_and_no_copied_id():
    whole = work()
    register, part = commands_of(whole, [whole.register(["search"], id="book/1"),
                                         whole.result("search", "one", id="book/1", headers={"more": "x"})])
    assert register.key == part.key == b"book/1"
    assert register.payload is None
    assert dict(register.headers)["reseq-targets"] == b"search"
    assert "reseq-id" not in dict(register.headers) and "reseq-id" not in dict(part.headers)
    assert dict(part.headers)["more"] == b"x"
    assert dict(whole.result("search", "one", id="book").headers)["reseq-id"] == b"book"


def test_one_command_is_an_answer():
    assert commands_of(work(), work().unregister()) == [work().unregister("*")]


def test_the_version_that_was_read_is_said():
    assert dict(work().result("search", "x", observed_version=9).headers)["reseq-observed-version"] == b"9"


@pytest.mark.parametrize("payload, op, deleted", [
    (None, None, True), (b"", None, False), (b"x", b"delete", True), (None, b"delete", True), (None, b"upsert", False)])
def test_what_is_a_deletion(payload, op, deleted):
    headers = HEADERS if op is None else HEADERS + (("reseq-op", op),)
    assert work(payload, headers).deleted is deleted


def test_a_deletion_is_answered_with_what_was_said_and_no_more():
    said = deletion_of(work(None, HEADERS + (("reseq-op", b"delete"),)))
    assert [(one.payload, dict(one.headers)["reseq-op"]) for one in said] == [(None, b"delete")] * 2
    assert [(one.payload, "reseq-op" in dict(one.headers)) for one in deletion_of(work(None))] == [(None, False)] * 2


def test_work_is_told_by_its_id_sequence_and_place():
    assert (work().id, work().sequence, work().place) == ("book", "3", "shop.work[2]@7")
    doubled = work(headers=(("reseq-seq", b"1"), ("reseq-seq", b"2")))
    assert doubled.sequence == "2"
    assert doubled.header("reseq-none") is None
