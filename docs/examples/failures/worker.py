"""Results for `catalogue`: worker.py BROKERS APPLICATION"""
import sys

from resequencer import Permanent, Transient, Universal, Worker


def answer(work):
    if work.payload == b"locked" and work.attempt == 1:
        raise Transient("the page is locked")
    if work.payload == b"pdf":
        raise Permanent("no PDF")
    if work.payload == b"away":
        raise ConnectionRefusedError("port 9200")
    return {b"locked": "a page"}[work.payload]  # KeyError: nobody has thought of that


Worker(*sys.argv[1:], answer, targets=["catalogue"], on_error="fail", failures={ConnectionError: Universal}).run()
