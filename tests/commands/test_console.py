"""Output of commands: tables on a terminal and in a pipe, names, progress."""

from __future__ import annotations

import io
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from unittest.mock import Mock

import pytest
from rich.cells import cell_len
from rich.console import Console

from nimbill.commands import console
from nimbill.commands.console import (
    OutputConsole,
    print_error,
    print_json,
    print_text,
    progress_bar,
)
from nimbill.commands.import_costs import TOTAL_COLUMNS
from nimbill.commands.tables import OutputColumn, print_fields, print_rows
from tests.commands.organisation_commands import OrganisationCommands
from tests.commands.run_command import run_command, service_environment
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.cloud_accounts.accounts import AZURE, add_account

GUID = "0f8fad5b-d9cb-469f-a165-70867728950e"
COMPANY_ID = "cmp_" + "a" * 26
LONG = "株式会社とても長い名前の会社 Limited Liability Company of Osaka"


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """A terminal with 80 columns; standard output and errors go to the same place."""
    screen = io.StringIO()
    for name in ("_out", "_errors"):
        wide = Console(file=screen, force_terminal=True, width=80, color_system=None)
        monkeypatch.setattr(console, name, wide)
    return screen


def measure_width(terminal: io.StringIO) -> int:
    return max(cell_len(line) for line in terminal.getvalue().splitlines())


ACCOUNT_COLUMNS = [
    OutputColumn("vendor"),
    OutputColumn("account"),
    OutputColumn("name", wraps=True),
    OutputColumn("group"),
    OutputColumn("group name", wraps=True),
]


def test_a_table_fits_80_columns_and_breaks_no_account_number(terminal: io.StringIO) -> None:
    print_rows(ACCOUNT_COLUMNS, [["azure", GUID, LONG, "BG-0001", LONG]])

    lines = terminal.getvalue().splitlines()
    assert measure_width(terminal) <= 80
    assert GUID in terminal.getvalue()
    assert len(lines) > 2


def test_a_terminal_too_narrow_for_the_ids_shows_each_field_on_a_line(
    terminal: io.StringIO,
) -> None:
    columns = [OutputColumn("first"), OutputColumn("second"), OutputColumn("name", wraps=True)]

    print_rows(columns, [[GUID, COMPANY_ID + "b" * 20, "Sakura"]] * 2)

    assert terminal.getvalue().split("\n\n")[0].splitlines() == [
        f"first   {GUID}",
        f"second  {COMPANY_ID + 'b' * 20}",
        "name    Sakura",
    ]
    assert terminal.getvalue().count(GUID) == 2


def test_a_terminal_breaks_sentences_between_words_only(terminal: io.StringIO) -> None:
    print_text(f"{'word ' * 12}{GUID} is the account")
    print_error(f"{'word ' * 12}{GUID} is the account")

    assert measure_width(terminal) <= 80
    assert terminal.getvalue().count(GUID) == 2


def test_in_a_pipe_a_sentence_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")

    print_text("word " * 100)
    print_error("word " * 100)

    output, errors = capsys.readouterr()
    assert output.count("\n") == errors.count("\n") == 1
    assert "\x1b" not in output + errors


def test_the_totals_of_an_import_fit_80_columns(terminal: io.StringIO) -> None:
    row = [
        "123456789012",
        "SavingsPlanRecurringFee",
        "discount",
        "-1234567.0123456789 USD",
        "9,999",
    ]

    print_rows(TOTAL_COLUMNS, [row])

    assert measure_width(terminal) <= 80
    for cell in ("123456789012", "-1234567.0123456789 USD"):
        assert cell in terminal.getvalue()


def test_in_a_pipe_a_row_is_one_line_without_colours(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(ACCOUNT_COLUMNS, [["azure", GUID, LONG * 5, "BG-0001", LONG]])

    header, row = capsys.readouterr().out.splitlines()
    assert header.split() == ["vendor", "account", "name", "group", "group", "name"]
    assert LONG * 5 in row
    assert "\x1b" not in header + row
    assert row == row.rstrip()


@contextmanager
def closed_pipe() -> Iterator[None]:
    """Standard output is read by a program that has ended, such as `head`."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as output, redirect_stdout(output):
        yield


@pytest.mark.parametrize(
    "print_result", [lambda: print_text("text"), lambda: print_json(b"{}")], ids=["text", "json"]
)
def test_a_reader_that_has_ended_ends_the_command_like_other_programs(
    print_result: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "_out", OutputConsole())  # it keeps what it could not write

    with pytest.raises(SystemExit) as ended, closed_pipe():
        print_result()

    assert ended.value.code == 128 + signal.SIGPIPE


def test_names_cannot_control_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([OutputColumn("name", wraps=True)], [["a\x1b[2Jb\nc[red]d"]])
    print_fields({"name": "a\x1b]0;title\x07"})

    output = capsys.readouterr().out
    assert "\x1b" not in output
    assert output.splitlines()[1] == "a [2Jb c[red]d"


@dataclass(frozen=True)
class FakeTimer:
    """Calls the function at once if the work takes longer than the timer waits."""

    work_seconds: float

    def __call__(self, seconds: float, function: Callable[[], None]) -> Mock:
        is_long = self.work_seconds > seconds
        return Mock(start=function if is_long else Mock())


def test_progress_is_shown_only_after_two_seconds(
    terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading, "Timer", FakeTimer(work_seconds=1.9))
    with progress_bar("short work"):
        pass
    assert terminal.getvalue() == ""

    monkeypatch.setattr(threading, "Timer", FakeTimer(work_seconds=2.1))
    with progress_bar("long work") as show_progress:
        show_progress(2, 5)
    assert "long work" in terminal.getvalue()
    assert "2/5" in terminal.getvalue()


def test_no_progress_is_shown_in_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading, "Timer", FakeTimer(work_seconds=9))

    with progress_bar("long work"):
        pass

    assert capsys.readouterr() == ("", "")


def test_the_output_of_commands_fits_80_columns_and_breaks_no_id(
    commands: OrganisationCommands, terminal: io.StringIO
) -> None:
    service = commands.service
    group = create_billing_group(
        service, service.root(), billinggroup_id="BG-000001", billinggroup_name=LONG[:40]
    )
    add_account(service, group, **(AZURE | {"customer_id": GUID, "name": LONG[:40]}))
    own = service.organisation.organisation_id
    expected = {
        ("groups", "list"): ["BG-000001", group],
        ("groups", "show", "BG-000001"): [group, GUID],
        ("accounts", "list"): [GUID, "BG-000001"],
        ("month", "show", "2026-09"): ["no_costs"],
        ("audit", "verify"): [own],
    }

    for arguments, ids in expected.items():
        terminal.seek(0)
        terminal.truncate()
        commands.succeed(*arguments)

        assert measure_width(terminal) <= 80, arguments
        for each in ids:
            assert each in terminal.getvalue(), (arguments, each)
    for arguments in (("organisations", "list"), ("keys", "list")):
        assert run_command(*arguments, env=service_environment(service)).returncode == 0
        assert measure_width(terminal) <= 80, arguments
    assert own in terminal.getvalue()
