"""Reads test functions without running them: their source with all that it uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.contract.specification import ROOT


@cache
def read_definitions(file: str) -> dict[str, str]:
    """The source of each name that a file defines, by name."""
    source = (ROOT / file).read_text()
    lines = source.splitlines()
    definitions: dict[str, str] = {}
    for node in ast.parse(source).body:
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(each.lineno for each in decorators)])
        text = "\n".join(lines[first - 1 : node.end_lineno])
        for name in _defined_names(node):
            definitions[name] = f"{definitions.get(name, '')}\n{text}"
    return definitions


def _defined_names(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (each.id for each in _names_in(targets))
        case ast.AnnAssign(target=target):
            yield from (each.id for each in _names_in([target]))


def _names_in(nodes: list[ast.expr]) -> Iterator[ast.Name]:
    return (name for node in nodes for name in ast.walk(node) if isinstance(name, ast.Name))


def is_test(name: str) -> bool:
    """Whether a file has this test, written as file::function."""
    file, _, function = name.partition("::")
    return (
        function.startswith("test_")
        and Path(file).name.startswith("test_")
        and (ROOT / file).is_file()
        and function in read_definitions(file)
    )


@cache
def read_source(name: str) -> str:
    """The source of a test and of everything it uses that the tests define."""
    file, _, function = name.partition("::")
    used, left = {(file, function)}, [(file, function)]
    while left:
        file, function = left.pop()
        definitions, imports = read_definitions(file), read_imports(file)
        tree = ast.parse(definitions[function])
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}  # fixtures
        found = {(file, each) for each in names & definitions.keys()}
        found |= {imports[each] for each in names & imports.keys()}
        left += found - used
        used |= found
    return "\n".join(read_definitions(file)[each] for file, each in sorted(used))


@cache
def read_imports(file: str) -> dict[str, tuple[str, str]]:
    """File and name of each definition that a test file imports from another file of tests."""
    imports = {}
    for node in ast.parse((ROOT / file).read_text()).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests."):
            other = f"{str(node.module).replace('.', '/')}.py"
            if (ROOT / other).is_file():
                known = read_definitions(other)
                for alias in node.names:
                    if alias.name in known:
                        imports[alias.asname or alias.name] = (other, alias.name)
    return imports
