"""What the commands share: output, refusals, and types of options."""

import sys
from typing import Annotated, NoReturn

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import Console
from rich.progress import Progress, ProgressColumn
from rich.table import Table

REFUSED = 2  # exit code: the command was understood but cannot be carried out

Switch = Annotated[bool, Parameter(negative="")]
Port = Annotated[int, Parameter(validator=Number(gte=1, lte=65_535))]

_out = Console(highlight=False, soft_wrap=True)
_errors = Console(stderr=True, highlight=False, soft_wrap=True)


def print_text(text: str) -> None:
    _out.print(text, markup=False)


def print_table(table: Table) -> None:
    _out.print(table)


def print_json(content: bytes) -> None:
    sys.stdout.buffer.write(content + b"\n")
    sys.stdout.flush()


def read_hidden(prompt: str) -> str:
    return _out.input(prompt, password=True)


def terminal_progress(*columns: ProgressColumn) -> Progress:
    """A progress bar on standard error, hidden if that is no terminal."""
    return Progress(*columns, console=_errors, disable=not _errors.is_terminal, transient=True)


def exit_with_error(code: int, text: str) -> NoReturn:
    _errors.print(f"nimbill: {text}", style="red", markup=False)
    sys.exit(code)


def refuse(text: str) -> NoReturn:
    exit_with_error(REFUSED, text)
