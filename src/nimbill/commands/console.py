"""What the commands share: output, progress, refusals, and types of options."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from json import dumps
from typing import Annotated, NoReturn

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
from rich.text import Text

from nimbill.foundation.errors import Violation

# Exit codes.
REFUSED = 2  # the command was understood but cannot be carried out
NOTHING_FOUND = 3  # there is nothing to compare or to write
OUTPUT_CLOSED = 128 + signal.SIGPIPE  # what other programs return

PROGRESS_AFTER_SECONDS = 2

Switch = Annotated[bool, Parameter(negative="")]
JsonSwitch = Annotated[bool, Parameter(negative="", help="Print one JSON object and nothing else.")]
Port = Annotated[int, Parameter(validator=Number(gte=1, lte=65_535))]


class OutputConsole(Console):
    def on_broken_pipe(self) -> None:
        _exit_without_reader()


_out = OutputConsole(highlight=False)
_errors = Console(stderr=True, highlight=False)


@dataclass(slots=True)
class _JsonOutput:
    is_expected: bool = False
    is_printed: bool = False


_json_output = _JsonOutput()


def find_terminal() -> Console | None:
    """Return the terminal that shows standard output; None if another program reads it."""
    return _out if _out.is_terminal else None


def has_error_terminal() -> bool:
    return _errors.is_terminal


def print_text(text: str) -> None:
    _print(_out, text)


def _print(console: Console, text: str, style: str = "") -> None:
    """A terminal breaks lines between words, so that no id is broken; a pipe breaks none."""
    lines = "\n".join(map(replace_unprintable, text.split("\n")))
    console.print(Text(lines, style=style, overflow="fold"), soft_wrap=not console.is_terminal)


def replace_unprintable(text: str) -> str:
    """A name of a customer must neither break a row nor control the terminal."""
    return "".join(character if character.isprintable() else " " for character in text)


def expect_json(expected: bool) -> None:
    """Whether an error must also be printed as JSON, because --json was given."""
    _json_output.is_expected, _json_output.is_printed = expected, False


def print_json(content: bytes) -> None:
    _json_output.is_printed = True
    try:
        sys.stdout.buffer.write(content + b"\n")
        sys.stdout.flush()
    except BrokenPipeError:
        _exit_without_reader()


def _exit_without_reader() -> NoReturn:
    """The program that reads standard output has ended, as `head` does. That is no error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())  # Python writes the rest of the output at its end
    os.close(nowhere)
    sys.exit(OUTPUT_CLOSED)


def print_json_error(code: str, text: str, violations: Sequence[Violation] = ()) -> None:
    """Print the error in place of the command's object; nothing without --json."""
    if not _json_output.is_expected or _json_output.is_printed:
        return
    listed = [{"field": violation.field, "rule": violation.rule} for violation in violations]
    error = {"code": code, "detail": text, "violations": listed}
    print_json(dumps({"error": error}).encode())


def print_error(text: str) -> None:
    _print(_errors, f"nimbill: {text}", style="red")


def print_warning(text: str) -> None:
    _print(_errors, f"nimbill: warning: {text}", style="yellow")


def read_line(prompt: str) -> str:
    return _out.input(prompt, markup=False)


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


@contextmanager
def delayed_progress(*columns: ProgressColumn) -> Iterator[Progress]:
    """A progress bar that appears once the work takes two seconds.

    It is shown on standard error, and only if that is a terminal.
    """
    bar = Progress(*columns, console=_errors, disable=not _errors.is_terminal, transient=True)
    timer = threading.Timer(PROGRESS_AFTER_SECONDS, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield bar
    finally:
        timer.cancel()
        timer.join()
        if bar.live.is_started:
            bar.stop()


@contextmanager
def progress_bar(description: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar once the work takes two seconds.

    Yields a function that receives the finished and all steps. Without its calls the bar shows
    only that the work goes on.
    """
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with delayed_progress(*columns, TimeElapsedColumn()) as bar:
        task = bar.add_task(description, total=None)
        yield lambda finished, total: bar.update(task, total=total, completed=finished)
