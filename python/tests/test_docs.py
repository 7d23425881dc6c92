"""The examples of the documents run."""

import json
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["docs/arrays.md", "docs/python.md", "python/README.md"])
def test_examples_run(page, tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)
    assert blocks
    done = subprocess.run([sys.executable, "-c", "\n".join(blocks)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_notebook_runs(tmp_path):
    """Every code cell, in order, in one interpreter; the last expression of a cell is shown as a notebook shows it."""
    [path] = (ROOT / "docs/notebooks").glob("*.ipynb")
    cells = ["".join(cell["source"]) for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 6
    program = f"""
import ast
names = {{}}
for number, source in enumerate({cells!r}):
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, f"cell {{number}}", "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), f"cell {{number}}", "eval"), names)
        show = getattr(value, "_repr_html_", None)
        assert show is None or "<table" in show()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in ("forecast.tgm", "forecast.png", "model.bt"):
        assert (tmp_path / name).stat().st_size > 0
