"""What an exception says of the work whose function raised it, and the record that it becomes."""
import pickle

import pytest
from resequencer import Failure, Permanent, Transient, Universal, Work
from resequencer.failures import commands_of_failure, failure_of, table_of

HEADERS = (("traceparent", b"00-1"), ("reseq-seq", b"3"), ("reseq-epoch", b"0"), ("reseq-revision", b"2"),
           ("reseq-attempt", b"4"), ("reseq-targets", b"search,catalogue"))


def work(headers=HEADERS, targets=("search", "catalogue")):
    return Work(b"book", b"text", headers, targets, "shop.work", 2, 7)


class PdfError(Exception):
    pass


class BrokenPdf(PdfError):
    pass


@pytest.mark.parametrize("error, kind, scope, text", [
    (Transient("a lock"), "transient", "document", "a lock"),
    (Permanent("no PDF"), "permanent", "document", "no PDF"),
    (Universal("the engine is down"), "transient", "universal", "the engine is down"),
    (Failure("hm"), "unknown", "document", "hm"),
    (KeyError("price"), "unknown", "document", "KeyError: 'price'"),
    (SystemExit(), "unknown", "document", "SystemExit"),
    (FileNotFoundError(2, "no file"), "transient", "document", "FileNotFoundError: [Errno 2] no file"),
    (ConnectionResetError("reset"), "transient", "universal", "ConnectionResetError: reset"),
    (BrokenPdf("page 7"), "permanent", "document", "BrokenPdf: page 7"),
    (TimeoutError("60 s"), "unknown", "document", "TimeoutError: 60 s")])
def test_an_exception_says_what_its_nearest_class_means(error, kind, scope, text):
    table = table_of({ConnectionError: Universal, PdfError: Permanent, TimeoutError: Failure}, (OSError,))
    failure = failure_of(error, table)
    assert (failure.kind, failure.scope, str(failure)) == (kind, scope, text)


@pytest.mark.parametrize("wrong, why", [
    ({ConnectionError: "universal"}, "ConnectionError may mean"), ({PdfError: BrokenPdf}, "PdfError may mean"),
    ({"PdfError": Permanent}, "by classes of exceptions"), ({str: Permanent}, "by classes of exceptions")])
def test_a_table_says_what_fits_nothing(wrong, why):
    with pytest.raises(TypeError, match=why):
        table_of(wrong, ())


def test_a_failure_has_the_key_and_all_headers_of_its_work_and_no_payload():
    command = work().fail("no PDF", kind="permanent", scope="universal", target="search")
    assert (command.key, command.payload, command.target) == (b"book", None, "search")
    assert command.headers == [*HEADERS, ("reseq-command", b"fail"), ("reseq-target", b"search"),
                               ("reseq-failure", b"permanent"), ("reseq-failure-scope", b"universal"),
                               ("reseq-error", b"no PDF")]


def test_a_failure_that_says_nothing_is_for_all_and_unknown():
    assert work().fail().headers[len(HEADERS):] == [
        ("reseq-command", b"fail"), ("reseq-target", b"*"), ("reseq-failure", b"unknown"),
        ("reseq-failure-scope", b"document")]


class Declined(Transient):
    effect = "none"


@pytest.mark.parametrize("failure, said", [
    (Transient("a lock", effect="none"), b"none"), (Permanent("no PDF", effect="none"), b"none"),
    (Universal("the engine is down", effect="none"), b"none"), (Failure("hm", effect="none"), b"none"),
    (failure_of(PdfError("page 7"), {PdfError: Declined}), b"none"), (Transient("a lock"), None),
    (Transient("a lock", effect="unknown"), None), (Declined("a lock", effect="unknown"), None),
    (failure_of(KeyError("price"), {}), None), (failure_of(OSError("a lock"), {OSError: Transient}), None)])
@pytest.mark.parametrize("targets", [("search", "catalogue"), ("search",)])
def test_only_a_failure_that_says_so_says_that_nothing_was_done(failure, said, targets):
    commands = commands_of_failure(work(targets=targets), failure, targets)
    assert [dict(one.headers).get("reseq-effect") for one in commands] == [said]


def test_a_command_says_that_nothing_was_done_only_where_it_is_told():
    said = [dict(work().fail("a lock", **told).headers).get("reseq-effect")
            for told in ({"effect": "none"}, {"effect": "unknown"}, {})]
    assert said == [b"none", None, None]


def test_an_exception_keeps_its_effect_on_the_way_from_another_process():
    raised = pickle.loads(pickle.dumps(Transient("a lock", effect="none")))
    assert (str(raised), raised.kind, raised.effect) == ("a lock", "transient", "none")


@pytest.mark.parametrize("wrong", ["some", "", "None", True])
def test_an_exception_whose_effect_is_none_of_the_known_cannot_be_made(wrong):
    with pytest.raises(ValueError, match="an effect is one of none, unknown"):
        Transient("a lock", effect=wrong)


def test_a_class_whose_effect_is_none_of_the_known_is_refused_before_any_work():
    class NotSent(Universal):
        effect = "nothing"

    with pytest.raises(ValueError, match="an effect is one of none, unknown"):
        table_of({ConnectionError: NotSent}, ())
    with pytest.raises(ValueError, match="an effect is one of none, unknown"):
        NotSent("it was not sent")


@pytest.mark.parametrize("wrong", [{"kind": "fatal"}, {"scope": "all"}, {"kind": ""}, {"effect": "some"},
                                   {"effect": None}])
def test_a_failure_says_what_fits_nothing(wrong):
    with pytest.raises(ValueError, match="a failure is one of"):
        work().fail("x", **wrong)


@pytest.mark.parametrize("error, said", [
    ("x" * 1024, b"x" * 1024), ("x" * 1025, b"x" * 1024), ("x" + "\u00e9" * 600, b"x" + b"\xc3\xa9" * 511),
    ("\udcff", b"?")])
def test_an_error_is_cut_behind_1024_bytes_but_not_in_a_character(error, said):
    assert dict(work().fail(error).headers)["reseq-error"] == said


@pytest.mark.parametrize("targets, said", [
    (("search", "catalogue"), ["*"]), (("catalogue", "search"), ["*"]), (("catalogue",), ["catalogue"])])
def test_a_failure_is_for_no_target_that_others_answer_for(targets, said):
    commands = commands_of_failure(work(targets=targets), Permanent("no PDF"), targets)
    assert [one.target for one in commands] == said
    assert {dict(one.headers)["reseq-failure"] for one in commands} == {b"permanent"}


def test_a_failure_of_work_that_lists_no_targets_names_each():
    unlisted = work(headers=HEADERS[:5])
    assert [one.target for one in commands_of_failure(unlisted, Permanent("no PDF"), unlisted.targets)] == [
        "search", "catalogue"]
