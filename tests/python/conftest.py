"""Results of each case in the form that script/test counts, GoogleTest's: lines in a file of the folder
RESEQ_PYTHON_RESULTS, which tests/python/run puts together.

Thread rule: one thread."""
import os
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

results, said = {}, {}


def pytest_runtest_logreport(report):
    """A case has three reports: it has failed if one of them has."""
    suite, _, name = report.nodeid.rpartition("::")
    suite = Path(suite).stem
    if report.failed:
        results[suite, name] = "failed"
        said.setdefault((suite, name), report.longreprtext)
    elif report.skipped:
        results.setdefault((suite, name), "skipped")
    elif report.when == "call":
        results.setdefault((suite, name), "completed")


def pytest_sessionfinish():
    if "RESEQ_PYTHON_RESULTS" not in os.environ:
        return
    lines = []
    for (suite, name), result in results.items():
        shown = "completed" if result == "failed" else result
        case = f'<testcase name={quoteattr(name)} status="run" result="{shown}" classname={quoteattr(suite)}'
        if result == "failed":
            text = "".join(one for one in said[suite, name] if one.isprintable() or one == "\n")
            lines += [f'{case}>\n<failure message="see the log">{escape(text)}</failure>', "</testcase>"]
        else:
            lines.append(f"{case}/>")
    Path(os.environ["RESEQ_PYTHON_RESULTS"], str(os.getpid())).write_text("\n".join(lines) + "\n", encoding="utf-8")
