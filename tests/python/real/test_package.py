"""The package as its users get it, and the whole pipeline of the tutorial with it."""
import gc
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import resequencer
from application import ROOT, log_of, make_topic, start_process, unique, wait_until
from confluent_kafka import Producer as Plain
from resequencer import Admin

SOURCES = ROOT / "clients/python"


def test_the_wheel_has_all_of_it_and_its_types():
    dist = Path(os.environ["RESEQ_PYTHON_DIST"])
    wheel, = dist.glob("*.whl")
    modules = {f"resequencer/{path.name}" for path in (SOURCES / "src/resequencer").iterdir() if path.is_file()}
    assert "resequencer/py.typed" in modules
    with zipfile.ZipFile(wheel) as opened:
        packed = set(opened.namelist())
        metadata = opened.read(f"resequencer-{resequencer.__version__}.dist-info/METADATA").decode()
    assert {name for name in packed if ".dist-info/" not in name} == modules
    assert wheel.name == f"resequencer-{resequencer.__version__}-py3-none-any.whl"
    assert "Requires-Dist: confluent-kafka>=1.7.0\n" in metadata.replace(" (", "").replace(")", "")
    sdist, = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as opened:
        assert f"resequencer-{resequencer.__version__}/pyproject.toml" in opened.getnames()


def test_the_tests_run_what_was_installed():
    assert Path(sys.prefix) in Path(resequencer.__file__).parents


def test_null_headers_do_not_wear_none_out(brokers):
    """Debian's confluent-kafka gives away a reference to None with each; at the last one the process would end."""
    topic, count = make_topic(brokers, unique("nulls")), 20_000
    producer = Plain({"bootstrap.servers": brokers})
    for _ in range(count // 10):
        producer.produce(topic, "x", headers=[(f"null-{i}", None) for i in range(10)])
    assert producer.flush(60) == 0
    before = sys.getrefcount(None)
    assert sum(value is None for record in log_of(brokers, topic) for _, value in record.headers) == count
    gc.collect()
    assert sys.getrefcount(None) > before - count // 10


def test_the_pipeline_of_the_tutorial_ends_right(brokers, tmp_path):
    """The commands of the package's README, with two workers."""
    name = "orders"
    if os.environ.get("RESEQ_BOOTSTRAP_SERVERS"):  # not alone there
        name = f"orders-{os.getpid()}"
    for file in ("pipeline.py", "orders.toml"):
        text = (SOURCES / "examples" / file).read_text()
        for named in ('BROKERS, "orders"', 'application.id = "orders"'):
            text = text.replace(named, named.replace('"orders"', f'"{name}"'))
        (tmp_path / file).write_text(text)
    run = {"cwd": tmp_path, "text": True, "env": {**os.environ, "BROKERS": brokers, "RESEQ_BOOTSTRAP_SERVERS": brokers,
                                                  "RESEQ_HTTP_LISTEN": "127.0.0.1:0"}}
    program = str(Path(os.environ["RESEQ_PROGRAMS"], "resequencer"))
    example = [sys.executable, "pipeline.py"]
    subprocess.run([program, "init", "--config", "orders.toml"], check=True, **run)
    started = []
    try:
        started.append(start_process([program, "run", "--config", "orders.toml"], **run))
        started += [start_process([*example, "enrich"], **run) for _ in range(2)]
        subprocess.run([*example, "orders"], check=True, **run)
        with Admin(brokers, name, timeout_s=60) as admin:
            wait_until(lambda: finished(admin) == 100, "100 orders")
        told = subprocess.run([*example, "catalogue"], check=True, stdout=subprocess.PIPE, **run).stdout
        assert told == "catalogue: 100 orders right, 0 wrong\n"
        for one in reversed(started):
            one.terminate()
            assert one.wait(60) == 0
    finally:
        for one in started:
            one.kill()
            one.wait()


def finished(admin):
    """Documents that wait for nothing."""
    counts = [part.get("documents", {}) for part in admin.stats().partitions.values()]
    return sum(one.get("completed", 0) for one in counts) if not any(one.get("live") for one in counts) else 0
