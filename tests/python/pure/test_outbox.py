"""What is sent is sent until it is in the log. That an acknowledgement comes without an offset cannot be had of a real
broker when a test wants it, so the client is a stand-in here."""
from confluent_kafka import KafkaError, KafkaException
from resequencer.outbox import Outbox, Outgoing

RECORD = Outgoing("commands", b"k", b"x", [("h", b"v")])


class Message:
    def __init__(self, offset):
        self._offset = offset

    def offset(self):
        return self._offset


class Client:
    """Acknowledges with these offsets in turn; an exception is raised by produce()."""

    def __init__(self, *plan):
        self.plan, self.sent, self.waiting = list(plan), [], []

    def produce(self, topic, value, key, headers, partition, on_delivery):
        step = self.plan.pop(0)
        if isinstance(step, Exception):
            raise step
        self.sent.append((topic, key, value, headers, partition))
        self.waiting.append((on_delivery, step))

    def poll(self, timeout):
        waiting, self.waiting = self.waiting, []
        for on_delivery, step in waiting:
            on_delivery(*((step, None) if isinstance(step, KafkaError) else (None, Message(step))))
        return len(waiting)


def flushed(client):
    told = []
    outbox = Outbox(client)
    outbox.send(RECORD, told.append)
    assert outbox.flush(5) == 0
    return told


def test_an_acknowledgement_without_an_offset_is_none():
    client = Client(-1001, -1001, 7)
    assert flushed(client) == [None]
    assert client.sent == [("commands", b"k", b"x", [("h", b"v")], -1)] * 3


def test_an_error_is_told():
    error = KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)
    assert flushed(Client(error)) == [error]


def test_a_full_queue_is_waited_for():
    client = Client(BufferError(), 1)
    assert flushed(client) == [None]


def test_what_the_client_refuses_is_told_at_once():
    error = KafkaError(KafkaError.MSG_SIZE_TOO_LARGE)
    client = Client(KafkaException(error))
    assert flushed(client) == [error]


def test_what_is_left_at_the_limit_is_counted():
    outbox = Outbox(Client(1, 1))
    for _ in range(2):
        outbox.send(RECORD, print)
    assert outbox.flush(0) == 2 and outbox.open == 2
