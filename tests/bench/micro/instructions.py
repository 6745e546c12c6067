#!/usr/bin/python3
"""Counts the instructions of each step of a record's way, and compares them with those that were recorded.

    tests/bench/micro/instructions.py [--program PATH] [--record] [--step NAME]...

Runs reseq-bench-micro (of the release build) under callgrind, which does not depend on what else the machine does.
baseline.json holds the counts per record by version of the compiler. Who uses nothing new pays nothing for it, however
many changes there are: so it is recorded anew only by a change that says why. Code 0: no step needs more than two
percent more than recorded; 1: some does; 77: nothing is recorded for this compiler (with CI=true that is an error).
--record writes what was counted.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]
BASELINE = FOLDER / "baseline.json"
ALLOWED = 1.02
SKIPPED = 77
# Enough that what is done once per run does not count, little enough for half a minute.
KNOWN, BATCH = 20_000, 5_000


def compiler_of(program):
    """What the compiler wrote into the program about itself."""
    comments = subprocess.run(["readelf", "-p", ".comment", program], check=True, capture_output=True, text=True).stdout
    found = re.search(r"GCC: \([^)]*\) ([0-9.]+)", comments)
    return "g++ " + found.group(1) if found else "unknown"


def count(program, steps):
    """Instructions per record by step, in the order of the program."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "counts"
        command = ["valgrind", "--tool=callgrind", "--quiet", "--instr-atstart=no", f"--callgrind-out-file={out}",
                   program, "--count", "--known", str(KNOWN), "--batch", str(BATCH)]
        for step in steps:
            command += ["--step", step]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        totals = {}
        for file in pathlib.Path(folder).glob("counts.*"):
            text = file.read_text(errors="replace")
            name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.M)
            if name:
                totals[name.group(1)] = int(re.search(r"^totals: (\d+)", text, re.M).group(1))
    return {name: round(totals[name] / int(records)) for name, records in map(str.split, printed.splitlines())}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--program", default=str(ROOT / "build/release/bin/reseq-bench-micro"))
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--step", action="append", default=[])
    parser.add_argument("--json", help="file for what was counted")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("no valgrind: script/deps test installs it")
    compiler = compiler_of(arguments.program)
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    recorded = baseline.get(compiler, {})
    counts = count(arguments.program, arguments.step)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(counts) + "\n")
    grown = []
    print(f"{'instructions per record':24} {'counted':>8} {'recorded':>9}   ({compiler})")
    for name, value in counts.items():
        known = recorded.get(name)
        print(f"{name:24} {value:8} {known if known is not None else '-':>9}" +
              (f"   {value / known:.2f}" if known else ""))
        if known is None or value > known * ALLOWED:
            grown.append(name)
    if arguments.record:
        baseline[compiler] = {**recorded, **counts}
        BASELINE.write_text(json.dumps(baseline, indent=2) + "\n")
        return 0
    if not recorded:
        print(f"nothing is recorded for {compiler}: run with --record")
        return 1 if os.environ.get("CI") == "true" else SKIPPED
    if grown:
        print("more than two percent above what is recorded, or not recorded: " + ", ".join(grown))
        return 1
    print("no step grew by more than two percent")
    return 0


if __name__ == "__main__":
    sys.exit(main())
