"""The Kafka that tests/python/run has started, and applications that end with their test."""
import os
import sys

import pytest

from application import Application, WorkerProcess


@pytest.fixture(scope="session")
def brokers():
    return os.environ["RESEQ_PYTHON_BROKERS"]


@pytest.fixture
def application(brokers, tmp_path):
    """Makes applications: application(more="deletes = ..."), see Application."""
    made = []

    def make(**options):
        made.append(Application(brokers, tmp_path, **options))
        return made[-1]

    yield make
    for one in made:
        print(f"--- {one.name}\n" + (one.folder / "log").read_text()[-4000:], file=sys.stderr)
        one.end()


@pytest.fixture
def process(tmp_path):
    """Makes workers that are processes: process(application, on_error="skip"), see WorkerProcess."""
    made = []

    def make(application, **options):
        made.append(WorkerProcess(application, tmp_path / f"worker-{len(made)}.log", **options))
        return made[-1]

    yield make
    for number, one in enumerate(made):
        one.end()
        print(f"--- worker {number}\n" + one.log.read_text()[-4000:], file=sys.stderr)
