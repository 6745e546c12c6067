"""Ids as text and bytes, and the partition that they belong to."""
import zlib

import pytest
from resequencer import partition_of
from resequencer.ids import ID_BYTES_MAX, bytes_of, text_of
from resequencer.partition import librdkafka_name_of, murmur2


@pytest.mark.parametrize("data, expected", [
    # Of the tests of Kafka's own Utils.murmur2, as signed numbers.
    (b"21", -973932308), (b"foobar", -790332482), (b"a-little-bit-long-string", -985981536),
    (b"a-little-bit-longer-string", -1486304829),
    (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971), (b"abc", 479470107)])
def test_murmur2_is_that_of_java(data, expected):
    assert murmur2(data) == expected & 0xFFFFFFFF


def test_partition_is_that_of_javas_clients():
    assert partition_of("foobar", 7) == (-790332482 & 0x7FFFFFFF) % 7


def test_crc32_is_librdkafkas_consistent():
    assert partition_of("foobar", 7, "crc32") == zlib.crc32(b"foobar") % 7


def test_text_and_its_utf8_are_the_same_id():
    assert partition_of("größe", 1000) == partition_of("größe".encode(), 1000)


def test_any_bytes_come_back_from_text():
    for key in (b"\xff\x00\x80", "größe".encode(), bytes(range(256))):
        assert bytes_of(text_of(key)) == key


@pytest.mark.parametrize("wrong", ["", b"", b"x" * (ID_BYTES_MAX + 1), "ü" * (ID_BYTES_MAX // 2 + 1)])
def test_an_id_has_bounds(wrong):
    with pytest.raises(ValueError, match="1 to 4096 bytes"):
        bytes_of(wrong)


def test_the_longest_id_is_one():
    assert len(bytes_of("x" * ID_BYTES_MAX)) == ID_BYTES_MAX


def test_unknown_partitioners_and_no_partitions_are_refused():
    with pytest.raises(ValueError, match="murmur2 or crc32"):
        librdkafka_name_of("murmur2_random")
    with pytest.raises(ValueError, match="at least one partition"):
        partition_of("x", 0)
