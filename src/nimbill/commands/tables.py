"""Tables of the command line: they fit the terminal and break no id; a pipe gets whole rows."""

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from nimbill.commands.console import find_terminal, print_text, replace_unprintable

# See docs/choices.md, command-line.

PIPED_WIDTH = 100_000  # another program reads the lines, so none is wrapped or cut
NAME_WIDTH_MIN = 8  # a column of names is not made narrower
GAP = 2


class OutputColumn(NamedTuple):
    """A column of a table. Ids and numbers are never broken; names wrap if they must."""

    name: str
    wraps: bool = False
    right: bool = False


Rows = Sequence[Sequence[str]]


def print_rows(columns: Sequence[OutputColumn], rows: Rows) -> None:
    """Print a table that fits the terminal; in a pipe every row is one line.

    If the terminal is too narrow for the ids, each row is printed as a list of its fields.
    """
    printable = [[replace_unprintable(cell) for cell in row] for row in rows]
    terminal = find_terminal()
    if terminal is None:
        _print_whole_rows(columns, printable)
    elif _measure_width(columns, printable) <= terminal.width:
        terminal.print(_build_table(columns, printable))
    else:
        _print_as_fields(columns, printable)


def print_fields(fields: Mapping[str, str]) -> None:
    """Print one line per field: its name, then its value."""
    width = max(map(len, fields), default=0)
    for name, value in fields.items():
        print_text(f"{name:{width}}  {replace_unprintable(value)}".rstrip())


def _build_table(columns: Sequence[OutputColumn], rows: Rows) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(
            column.name,
            justify="right" if column.right else "left",
            no_wrap=not column.wraps,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _measure_width(columns: Sequence[OutputColumn], rows: Rows) -> int:
    """The width below which an id would be broken."""
    widths = list(_measure_columns(columns, rows))
    return sum(widths) + GAP * (len(widths) - 1)


def _measure_columns(columns: Sequence[OutputColumn], rows: Rows) -> Iterator[int]:
    for number, column in enumerate(columns):
        longest = max(cell_len(text) for text in [column.name, *(row[number] for row in rows)])
        yield min(longest, NAME_WIDTH_MIN) if column.wraps else longest


def _print_whole_rows(columns: Sequence[OutputColumn], rows: Rows) -> None:
    rendered = io.StringIO()
    Console(file=rendered, width=PIPED_WIDTH, color_system=None).print(_build_table(columns, rows))
    for line in rendered.getvalue().splitlines():
        print_text(line.rstrip())


def _print_as_fields(columns: Sequence[OutputColumn], rows: Rows) -> None:
    for number, row in enumerate(rows):
        if number:
            print_text("")
        print_fields({column.name: cell for column, cell in zip(columns, row, strict=True)})
