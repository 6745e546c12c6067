"""Producers, workers and sinks of the resequencer, which keeps documents in order while they are processed in parallel.

    Producer      numbers the changes of documents
    Worker        answers work with a function, in threads or as coroutines
    Sink          takes only what is newer than what it holds
    Admin         asks the instances what they know of a document, and how they are
    partition_of  the partition that a document belongs to
"""
from .admin import Admin
from .answers import Answers
from .errors import LeaseLost, NoSuchTopic, NotAnswered, NotDelivered, QueryRefused, ResequencerError, WorkFailed
from .ids import Id
from .partition import Partitioner, partition_of
from .producer import Date, Producer, Tag
from .sink import Change, Sink, SinkCounts
from .work import DELETE, UNREGISTER, Answer, Command, Payload, Work
from .worker import CommitWhen, Counts, OnError, Worker

__all__ = ["DELETE", "UNREGISTER", "Admin", "Answer", "Answers", "Change", "Command", "CommitWhen",
           "Counts", "Date", "Id", "LeaseLost", "NoSuchTopic",
           "NotAnswered", "NotDelivered", "OnError", "Partitioner", "Payload", "Producer", "QueryRefused",
           "ResequencerError", "Sink", "SinkCounts", "Tag", "Work", "WorkFailed", "Worker", "partition_of"]
__version__ = "0.1.0"
