"""The package is typed, strictly, and what its readers are shown is short."""
import ast
import io
import subprocess
import tokenize
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[3] / "clients/python"
CODE_LINES_MAX = 25


def test_mypy_strict_finds_nothing():
    checked = subprocess.run(["/usr/bin/python3", "-m", "mypy", "--config-file", "pyproject.toml"], cwd=PACKAGE,
                             capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def lines_of_code(source):
    """Without comments, empty lines and the docstring of the file."""
    first = ast.parse(source).body[0]
    assert ast.get_docstring(ast.parse(source))
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
                              tokenize.ENDMARKER) and token.start[0] > first.end_lineno:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines)


def test_the_whole_pipeline_has_few_lines():
    assert lines_of_code((PACKAGE / "examples/pipeline.py").read_text()) <= CODE_LINES_MAX
    assert lines_of_code('"""Doc\nstring."""\nimport os  # why\n\nx = """a\nb"""\n') == 3
