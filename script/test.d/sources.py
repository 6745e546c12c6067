"""What a source of the tree includes, and notes of what was right with all that it depends on.

Imported by the checks of sources beside it. Notes are kept for a month in ${XDG_CACHE_HOME:-~/.cache}/resequencer, for
all clones.
"""
import hashlib
import os
import pathlib
import re
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^#include\s+(["<])([^">]+)[">]', re.M)
KEPT_S = 30 * 24 * 3600


class Includes:
    """The headers that a file includes, itself or by headers of ours: paths of ours, and those names of others that are
    asked for."""

    def __init__(self, others=()):
        self.others = frozenset(others)
        self.known = {}

    def of(self, path):
        if path not in self.known:
            self.known[path] = frozenset()  # headers that include each other end here
            found = set()
            for mark, name in INCLUDE.findall((ROOT / path).read_text(errors="replace")):
                ours = self.find(path, name) if mark == '"' else None
                if ours is not None:
                    found |= self.of(ours) | {ours}
                elif name in self.others:
                    found.add(name)
            self.known[path] = frozenset(found)
        return self.known[path]

    @staticmethod
    def find(path, name):
        for folder in (path.parent, pathlib.Path(), pathlib.Path("resequencer")):
            file = pathlib.Path(os.path.normpath(folder / name))
            if (ROOT / file).is_file():
                return file
        return None


class Notes:
    """Of what was right: empty files, named by a sum of all that it depends on. `check` names the check, `rules` are
    whatever its outcome depends on beside the sources."""

    def __init__(self, check, rules, includes):
        self.includes = includes
        self.folder = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache",
                                   "resequencer", check)
        self.folder.mkdir(parents=True, exist_ok=True)
        for note in self.folder.iterdir():
            if note.stat().st_mtime < time.time() - KEPT_S:
                note.unlink(missing_ok=True)
        # Headers of others change with their packages.
        packages = subprocess.run(["dpkg-query", "-W"], capture_output=True, check=True).stdout
        self.base = hashlib.sha256(b"\n".join([packages, pathlib.Path(__file__).read_bytes(), *rules])).hexdigest()
        self.sums = {}

    def sum_of(self, path):
        if path not in self.sums:
            self.sums[path] = hashlib.sha256((ROOT / path).read_bytes()).hexdigest()
        return self.sums[path]

    def of(self, *files, rule=""):
        """Of these files together, and one rule more."""
        paths = {pathlib.Path(file) for file in files}
        for file in list(paths):
            paths |= {header for header in self.includes.of(file) if isinstance(header, pathlib.Path)}
        whole = "\n".join([self.base, rule, *map(str, files), *sorted(str(path) + self.sum_of(path) for path in paths)])
        return self.folder / hashlib.sha256(whole.encode()).hexdigest()
