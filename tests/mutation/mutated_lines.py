"""Which lines a test must execute to be able to notice a fault in a given line."""

from __future__ import annotations

import ast
from collections.abc import Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef


def lines_that_depend_on(source: str, line: int) -> list[set[int]]:
    """The lines that matter, best first; a later set counts if no test executes an earlier one.

    A statement of a function is executed with the function. A constant of a module is executed at
    import, by every test; the lines that use it matter.
    """
    tree = ast.parse(source)
    function = _innermost(tree, line)
    if function is None:
        return [_uses(tree, _names_at(tree, line)), _all_bodies(tree)]
    if line < function.body[0].lineno:  # a default value of a parameter
        return [_body(function)]
    return [{line}, _statement(function, line)]


def is_in_function(source: str, line: int) -> bool:
    """Otherwise it is executed at import."""
    return _innermost(ast.parse(source), line) is not None


def lines_after_decision(source: str, line: int) -> set[int]:
    """If the line is part of a condition, the lines that are executed if it is true."""
    decisions = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.If | ast.While) and node.test.lineno <= line <= _end(node.test)
    ]
    return {
        line for node in decisions for line in range(node.body[0].lineno, _end(node.body[-1]) + 1)
    }


def _functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def _innermost(tree: ast.AST, line: int) -> Function | None:
    around = [each for each in _functions(tree) if each.lineno <= line <= _end(each)]
    return max(around, key=lambda each: each.lineno, default=None)


def _end(node: ast.stmt | ast.expr) -> int:
    return node.end_lineno or node.lineno


def _body(function: Function) -> set[int]:
    return set(range(function.body[0].lineno, _end(function) + 1))


def _all_bodies(tree: ast.AST) -> set[int]:
    return {line for function in _functions(tree) for line in _body(function)}


def _statement(function: Function, line: int) -> set[int]:
    """A call over several lines may be executed under another of its lines."""
    around = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.stmt) and node.lineno <= line <= _end(node)
    ]
    innermost = max(around, key=lambda node: node.lineno)
    blocks = [*getattr(innermost, "body", []), *getattr(innermost, "handlers", [])]
    last = blocks[0].lineno - 1 if blocks else _end(innermost)
    return set(range(innermost.lineno, max(last, innermost.lineno) + 1))


def _names_at(tree: ast.Module, line: int) -> set[str]:
    """The names that a statement of a module or class assigns, and the class around it."""
    names = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or not node.lineno <= line <= _end(node):
            continue
        match node:
            case ast.ClassDef(name=name):
                names.add(name)
            case ast.Assign(targets=targets):
                names |= {each.id for each in targets if isinstance(each, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
    return names


def _uses(tree: ast.AST, names: set[str]) -> set[int]:
    return {
        node.lineno
        for function in _functions(tree)
        for node in ast.walk(function)
        if (isinstance(node, ast.Name) and node.id in names)
        or (isinstance(node, ast.Attribute) and node.attr in names)
    }
