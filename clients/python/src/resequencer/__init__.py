"""Producers, workers and sinks of the resequencer, which keeps documents in order while they are processed in parallel.

    Producer      numbers the changes of documents
    Worker        answers work with a function, in threads or as coroutines
    Sink          takes only what is newer than what it holds
    Admin         asks the instances what they know of a document, and how they are
    partition_of  the partition that a document belongs to
"""
from .admin import Admin
from .answers import Answers
from .errors import (Failure, FailureEffect, FailureKind, FailureScope, LeaseLost, NoSuchTopic, NotAnswered,
                     NotDelivered, Permanent, QueryRefused, ResequencerError, Transient, Universal, WorkFailed)
from .failures import Failures
from .ids import Id
from .partition import Partitioner, partition_of
from .producer import Date, Producer, Tag
from .sink import Change, Sink, SinkCounts
from .work import DELETE, UNREGISTER, Answer, Command, Payload, Work
from .worker import CommitWhen, Counts, OnError, Worker

__all__ = ["DELETE", "UNREGISTER", "Admin", "Answer", "Answers", "Change", "Command", "CommitWhen",
           "Counts", "Date", "Failure", "FailureEffect", "FailureKind", "FailureScope", "Failures", "Id", "LeaseLost",
           "NoSuchTopic", "NotAnswered", "NotDelivered", "OnError", "Partitioner", "Payload", "Permanent", "Producer",
           "QueryRefused", "ResequencerError", "Sink", "SinkCounts", "Tag", "Transient", "Universal", "Work",
           "WorkFailed", "Worker", "partition_of"]
__version__ = "0.1.0"
