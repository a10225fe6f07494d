"""What the commands share: output, progress, refusals, and types of options."""

import io
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, NamedTuple, NoReturn

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

REFUSED = 2  # exit code: the command was understood but cannot be carried out
PIPED_WIDTH = 100_000  # another program reads the lines, so none is wrapped or cut
PROGRESS_AFTER_SECONDS = 2

Switch = Annotated[bool, Parameter(negative="")]
Port = Annotated[int, Parameter(validator=Number(gte=1, lte=65_535))]

_out = Console(highlight=False, soft_wrap=True)
_errors = Console(stderr=True, highlight=False, soft_wrap=True)


class OutputColumn(NamedTuple):
    """A column of a table. Ids and numbers are never broken; names wrap if they must."""

    name: str
    wraps: bool = False
    right: bool = False


def print_text(text: str) -> None:
    _out.print(text, markup=False)


def print_rows(columns: Sequence[OutputColumn], rows: Sequence[Sequence[str]]) -> None:
    """Print a table that fits the terminal; in a pipe every row is one line."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(
            column.name,
            justify="right" if column.right else "left",
            no_wrap=not column.wraps,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(replace_unprintable(cell)) for cell in row))
    if _out.is_terminal:
        _out.print(table, soft_wrap=False)
        return
    rendered = io.StringIO()
    Console(file=rendered, width=PIPED_WIDTH, color_system=None).print(table)
    for line in rendered.getvalue().splitlines():
        print_text(line.rstrip())


def print_fields(fields: Mapping[str, str]) -> None:
    """Print one line per field: its name, then its value."""
    width = max(map(len, fields), default=0)
    for name, value in fields.items():
        print_text(f"{name:{width}}  {replace_unprintable(value)}".rstrip())


def replace_unprintable(text: str) -> str:
    """A name of a customer must neither break a row nor control the terminal."""
    return "".join(character if character.isprintable() else " " for character in text)


def print_json(content: bytes) -> None:
    sys.stdout.buffer.write(content + b"\n")
    sys.stdout.flush()


def read_hidden(prompt: str) -> str:
    return _out.input(prompt, password=True)


def terminal_progress(*columns: ProgressColumn) -> Progress:
    """A progress bar on standard error, hidden if that is no terminal."""
    return Progress(*columns, console=_errors, disable=not _errors.is_terminal, transient=True)


@contextmanager
def progress_bar(description: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar once the work takes two seconds.

    Yields a function that receives the finished and all steps. Without its calls the bar shows
    only that the work goes on.
    """
    bar = terminal_progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    )
    task = bar.add_task(description, total=None)
    timer = threading.Timer(PROGRESS_AFTER_SECONDS, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda finished, total: bar.update(task, total=total, completed=finished)
    finally:
        timer.cancel()
        timer.join()
        if bar.live.is_started:
            bar.stop()


def exit_with_error(code: int, text: str) -> NoReturn:
    _errors.print(f"nimbill: {text}", style="red", markup=False)
    sys.exit(code)


def refuse(text: str) -> NoReturn:
    exit_with_error(REFUSED, text)
