"""What a sink reads, and which changes it takes."""
import pytest
from resequencer import Sink
from resequencer.sink import SinkCounts, change_of


def headers(version=b"7", **more):
    return [("reseq-version", version), *((name.replace("_", "-"), value) for name, value in more.items())]


def test_a_delete_is_said_or_null_and_empty_is_neither():
    assert change_of(b"k", None, headers()).deleted
    assert change_of(b"k", b"x", headers(reseq_op=b"delete")).payload is None
    empty = change_of(b"k", b"", headers())
    assert (empty.payload, empty.deleted, empty.version, empty.id) == (b"", False, 7, "k")


def test_the_last_of_doubled_versions_counts():
    assert change_of(b"k", b"x", headers() + headers(b"8")).version == 8


@pytest.mark.parametrize("key, payload, given, why", [
    (None, b"x", headers(), "no key"), (b"", b"x", headers(), "no key"), (b"k", b"x", [], "no reseq-version"),
    (b"k", b"x", headers(b"0"), "between 1"), (b"k", b"x", headers(b"x"), "between 1"),
    (b"k", b"x", headers(str(1 << 63).encode()), "between 1"), (b"k", b"x", headers(b"9" * 5000), "between 1"),
    (b"k", b"x", headers(b"-1"), "between 1"), (b"k", b"x", headers(reseq_op=b"drop"), "neither"),
    (b"k", None, headers(reseq_op=b"upsert"), "upsert with a null payload"),
    (b"k", None, headers(reseq_op=b"failed"), "failed with a null payload")])
def test_what_is_outside_the_contract_is_refused(key, payload, given, why):
    with pytest.raises(ValueError, match=why):
        change_of(key, payload, given)


def test_a_marker_is_told_from_a_document_and_says_why():
    note = b'{"reason":"failed","error":"no PDF"}'
    marker = change_of(b"k", note, headers(reseq_op=b"failed", reseq_error=b"no PDF"))
    assert (marker.failed, marker.deleted, marker.error, marker.version) == (True, False, "no PDF", 7)
    document = change_of(b"k", b'{"reason":"failed"}', headers(reseq_error=b"of somebody"))
    assert (document.failed, document.error) == (False, None)


@pytest.mark.parametrize("note, why", [
    (b'{"reason":"body_gone"}', "body_gone"), (b'{"reason":7}', "failed"), (b'{"reason":""}', "failed"),
    (b"{}", "failed"), (b"[]", "failed"), (b"7", "failed"), (b"", "failed"), (b"\xff", "failed"),
    (b"[" * 9999, "failed")])
def test_a_marker_says_its_reason_where_nobody_said_an_error(note, why):
    assert change_of(b"k", note, headers(reseq_op=b"failed")).error == why


def test_what_is_no_text_in_an_error_is_replaced():
    assert change_of(b"k", b"{}", headers(reseq_op=b"failed", reseq_error=b"\xff!")).error == "\ufffd!"


def test_the_highest_version_is_one():
    assert change_of(b"k", b"x", headers(str((1 << 63) - 1).encode())).version == (1 << 63) - 1


def sink_of(**functions):
    """Without a broker: only what take() needs."""
    sink = Sink.__new__(Sink)
    sink.counts = SinkCounts()
    sink._get, sink._put, sink._apply = (functions.get(name) for name in ("get", "put", "apply"))
    return sink


def test_only_what_is_newer_is_put():
    held = {}
    sink = sink_of(get=held.get, put=lambda change: held.update({change.id: change.version}))
    come = [(b"5", b"x"), (b"5", b"x"), (b"4", b"x"), (b"9", None), (b"8", b"x"), (b"10", b"")]
    taken = [sink.take(change_of(b"k", payload, headers(version))) for version, payload in come]
    assert taken == [True, False, False, True, False, True]
    assert held == {"k": 10}
    assert (sink.counts.written, sink.counts.not_newer) == (3, 3)


def test_a_marker_is_taken_by_its_version_as_any_change():
    errors = {}
    held = {}

    def put(change):
        held[change.id] = change.version
        errors[change.id] = change.error

    sink = sink_of(get=held.get, put=put)
    come = [(b"5", b"failed", True), (b"4", b"upsert", False), (b"5", b"failed", False), (b"6", b"failed", True)]
    for version, op, is_newer in come:
        assert sink.take(change_of(b"k", b"{}", headers(version, reseq_op=op))) == is_newer
    assert errors == {"k": "failed"}
    assert sink.take(change_of(b"k", b"{}", headers(b"7", reseq_op=b"upsert")))
    assert errors == {"k": None}


def test_a_store_that_compares_by_itself_says_what_it_took():
    sink = sink_of(apply=lambda change: change.version > 5)
    assert [sink.take(change_of(b"k", b"x", headers(version))) for version in (b"5", b"6")] == [False, True]
    assert sink_of(apply=lambda change: None).take(change_of(b"k", b"x", headers()))


@pytest.mark.parametrize("functions", [{}, {"get": dict().get}, {"put": print}, {"apply": print, "put": print},
                                       {"apply": print, "put": print, "get": dict().get}])
def test_half_a_store_is_refused(functions):
    with pytest.raises(ValueError, match="get and put, or apply"):
        Sink("127.0.0.1:1", "shop", "search", **functions)
