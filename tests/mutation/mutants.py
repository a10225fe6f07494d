"""Small faults of a source file: an operator swapped, a check or lock removed, a limit moved."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SWAPPED_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
SWAPPED_ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.BitAnd: "|",
    ast.BitOr: "&",
}
LOCKS = ("with_for_update",)
# Their messages and fields do not change what the program does.
NOT_MUTATED_CALLS = ("log", "chosen", "stated", "print_text", "print_progress")
# A test compares table definitions with the migrated database.
NOT_MUTATED_METHODS = ("Table",)
NOT_MUTATED_CONDITIONS = ("TYPE_CHECKING", "__name__ == '__main__'")


Key = tuple[str, str, str]  # file, text of the line, description


@dataclass(frozen=True, slots=True)
class Mutant:
    file: Path  # relative to the project
    line: int
    text: str  # of the line, without the fault
    description: str  # "<= in a comparison"
    source: str  # of the whole file, with the fault

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.description}: {self.text}"

    @property
    def key(self) -> Key:
        """What stays the same when other lines of the file change."""
        return str(self.file), self.text, self.description

    def compiles(self) -> bool:
        try:
            compile(self.source, str(self.file), "exec")
        except SyntaxError:
            return False
        return True


def list_mutants(root: Path, file: Path) -> list[Mutant]:
    """List all faults of the file; a few do not compile."""
    source = (root / file).read_text()
    lines = _LineIndex(source)
    mutants = []
    for node in _walk(ast.parse(source)):
        for part, replacement, description in _faults(node, source):
            start, end = lines.span(part)
            mutated = source[:start] + replacement + source[end:]
            text = lines.text(part.lineno)
            mutants.append(Mutant(file, part.lineno, text, description, mutated))
    return mutants


class _LineIndex:
    """Character positions of nodes, which count their columns in bytes."""

    def __init__(self, source: str) -> None:
        self._lines = source.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._position(node.lineno, node.col_offset),
            self._position(node.end_lineno, node.end_col_offset),
        )

    def text(self, line: int) -> str:
        return self._lines[line - 1].strip()

    def _position(self, line: int, column: int) -> int:
        text = self._lines[line - 1]
        return self._starts[line - 1] + len(text.encode()[:column].decode())


def _walk(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes outside docstrings, annotations, assertions and descriptive calls."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "type_comment", "decorator_list"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or _is_descriptive(node):
                continue
            yield node
            yield from _walk(node)


def _is_descriptive(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return True
    if isinstance(node, ast.If) and ast.unparse(node.test) in NOT_MUTATED_CONDITIONS:
        return True
    value = node.value if isinstance(node, ast.Expr | ast.Assign) else node
    if isinstance(value, ast.Await):
        value = value.value
    return isinstance(value, ast.Call) and (
        _root_name(value.func) in NOT_MUTATED_CALLS
        or (isinstance(value.func, ast.Attribute) and value.func.attr in NOT_MUTATED_METHODS)
    )


def _root_name(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


Fault = tuple[ast.expr | ast.stmt, str, str]  # what is replaced, by what, in words


def _faults(node: ast.AST, source: str) -> Iterator[Fault]:
    def text(part: ast.expr | ast.stmt) -> str:
        return ast.get_source_segment(source, part) or ""

    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            swapped = SWAPPED_COMPARISONS[type(operator)]
            yield node, f"{text(left)} {swapped} {text(right)}", f"{swapped} in a comparison"
        case ast.BoolOp(op=ast.And()):
            yield node, f"({' or '.join(map(text, node.values))})", "or instead of and"
        case ast.BoolOp(op=ast.Or()):
            yield node, f"({' and '.join(map(text, node.values))})", "and instead of or"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, f"({text(operand)})", "not removed"
        case ast.BinOp(op=operator) if type(operator) in SWAPPED_ARITHMETIC:
            swapped = SWAPPED_ARITHMETIC[type(operator)]
            yield node, f"({text(node.left)} {swapped} {text(node.right)})", f"{swapped} in a sum"
        case ast.Constant(value=bool(value)):
            yield node, str(not value), f"{not value} instead of {value}"
        case ast.Constant(value=int(value)):
            yield node, str(value + 1), f"{value + 1} instead of {value}"
        case ast.Call(func=ast.Attribute(value=receiver, attr=name)) if name in LOCKS:
            yield node, text(receiver), "lock removed"
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield node, "pass", f"{text(node).partition('(')[0]} not called"
        case ast.Raise():
            yield node, "pass", "error not raised"
        case ast.If() if not node.orelse:
            yield node.test, "False", "condition never true"
