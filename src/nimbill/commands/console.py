"""What the commands share: output, refusals, and types of options."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from json import dumps
from typing import Annotated, NoReturn

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import Console
from rich.progress import Progress, ProgressColumn
from rich.table import Table

from nimbill.foundation.errors import Violation

# Exit codes.
REFUSED = 2  # the command was understood but cannot be carried out
NOTHING_FOUND = 3  # there is nothing to compare or to write

Switch = Annotated[bool, Parameter(negative="")]
Port = Annotated[int, Parameter(validator=Number(gte=1, lte=65_535))]

_out = Console(highlight=False, soft_wrap=True)
_errors = Console(stderr=True, highlight=False, soft_wrap=True)


@dataclass(slots=True)
class _JsonOutput:
    is_expected: bool = False
    is_printed: bool = False


_json_output = _JsonOutput()


def print_text(text: str) -> None:
    _out.print(text, markup=False)


def print_table(table: Table) -> None:
    _out.print(table)


def expect_json(expected: bool) -> None:
    """Whether an error must also be printed as JSON, because --json was given."""
    _json_output.is_expected, _json_output.is_printed = expected, False


def print_json(content: bytes) -> None:
    _json_output.is_printed = True
    sys.stdout.buffer.write(content + b"\n")
    sys.stdout.flush()


def print_json_error(code: str, text: str, violations: Sequence[Violation] = ()) -> None:
    """Print the error in place of the command's object; nothing without --json."""
    if not _json_output.is_expected or _json_output.is_printed:
        return
    listed = [{"field": violation.field, "rule": violation.rule} for violation in violations]
    error = {"code": code, "detail": text, "violations": listed}
    print_json(dumps({"error": error}).encode())


def print_error(text: str) -> None:
    _errors.print(f"nimbill: {text}", style="red", markup=False)


def read_line(prompt: str) -> str:
    return _out.input(prompt, markup=False)


def terminal_progress(*columns: ProgressColumn) -> Progress:
    """A progress bar on standard error, hidden if that is no terminal."""
    return Progress(*columns, console=_errors, disable=not _errors.is_terminal, transient=True)


def print_warning(text: str) -> None:
    _errors.print(f"nimbill: warning: {text}", style="yellow", markup=False)


def exit_with_error(
    exit_code: int,
    text: str,
    *,
    code: str = "refused",
    detail: str | None = None,
    violations: Sequence[Violation] = (),
) -> NoReturn:
    """Print one sentence to standard error and, with --json, one object to standard output.

    `detail` is the sentence without the violations, which the object lists separately.
    """
    print_error(text)
    print_json_error(code, detail or text, violations)
    sys.exit(exit_code)


def refuse(text: str) -> NoReturn:
    exit_with_error(REFUSED, text)


def read_password(prompt: str, *, from_stdin: bool) -> str:
    """Read one line of standard input, or ask for the password without showing it."""
    if from_stdin:
        try:
            return sys.stdin.buffer.readline().decode().rstrip("\r\n")
        except UnicodeDecodeError:
            refuse("The password is not valid UTF-8.")
    if not sys.stdin.isatty():
        refuse("Pass the password with --password-stdin.")
    return _out.input(prompt, password=True)
