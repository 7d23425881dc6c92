"""Fails when a module below the working directory imports what it does not use."""

import ast
import pathlib

for path in sorted(pathlib.Path().rglob("*.py")):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if path.name == "__init__.py":
        continue  # imports there are for others
    names = [
        (alias.asname or alias.name).split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom)) and getattr(node, "module", "") != "__future__"
        for alias in node.names
    ]
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    # Annotations in quotes are code as well.
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            used.add(node.value)
    unused = [name for name in names if name not in used]
    assert not unused, f"{path} does not use {unused}"
print("done")
