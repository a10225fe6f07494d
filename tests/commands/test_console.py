"""Output of commands: tables on a terminal and in a pipe, names, progress, completion."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest
from rich.console import Console

from nimbill.commands import console
from nimbill.commands.console import OutputColumn, print_fields, print_rows, progress_bar
from nimbill.commands.import_costs import TOTAL_COLUMNS
from tests.command_line import build_environment
from tests.commands.run_command import run_command, service_environment
from tests.running_service import Service

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


ACCOUNT_COLUMNS = [
    OutputColumn("vendor"),
    OutputColumn("account"),
    OutputColumn("name", wraps=True),
    OutputColumn("billing group", wraps=True),
]


def test_a_table_fits_80_columns_and_breaks_no_account_number(terminal: io.StringIO) -> None:
    print_rows(ACCOUNT_COLUMNS, [["azure", GUID, LONG, f"BG-0001 {LONG}"]])

    lines = terminal.getvalue().splitlines()
    assert max(Console().measure(line).maximum for line in lines) <= 80
    assert GUID in terminal.getvalue()
    assert len(lines) > 2


def test_the_totals_of_an_import_fit_80_columns(terminal: io.StringIO) -> None:
    row = [
        "123456789012",
        "SavingsPlanRecurringFee",
        "discount",
        "-1234567.0123456789 USD",
        "9,999",
    ]

    print_rows(TOTAL_COLUMNS, [row])

    lines = terminal.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    for cell in ("123456789012", "-1234567.0123456789 USD"):
        assert cell in terminal.getvalue()


def test_in_a_pipe_a_row_is_one_line_without_colours(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(ACCOUNT_COLUMNS, [["azure", GUID, LONG * 5, f"BG-0001 {LONG}"]])

    header, row = capsys.readouterr().out.splitlines()
    assert header.split() == ["vendor", "account", "name", "billing", "group"]
    assert LONG * 5 in row
    assert "\x1b" not in header + row
    assert row == row.rstrip()


def test_names_cannot_control_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows([OutputColumn("name", wraps=True)], [["a\x1b[2Jb\nc[red]d"]])
    print_fields({"name": "a\x1b]0;title\x07"})

    output = capsys.readouterr().out
    assert "\x1b" not in output
    assert output.splitlines()[1] == "a [2Jb c[red]d"


def test_progress_is_shown_only_after_two_seconds(
    terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "PROGRESS_AFTER_SECONDS", 0.3)

    with progress_bar("short work"):
        pass
    assert "short work" not in terminal.getvalue()

    with progress_bar("long work") as show_progress:
        show_progress(2, 5)
        time.sleep(0.6)
    assert "long work" in terminal.getvalue()
    assert "2/5" in terminal.getvalue()


def test_no_progress_is_shown_in_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "PROGRESS_AFTER_SECONDS", 0)

    with progress_bar("long work"):
        time.sleep(0.2)

    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_installed_for_the_shell(tmp_path: Path, shell: str) -> None:
    env = build_environment(tmp_path / "data") | {"HOME": str(tmp_path)}

    result = run_command(
        "--install-completion", "--shell", shell, "--output", str(tmp_path / "script"), env=env
    )

    assert result.returncode == 0, result.stderr
    script = (tmp_path / "script").read_text()
    for word in ("groups", "accounts", "rates", "reopen", "organisation"):
        assert word in script, word


def test_an_organisation_is_named_by_id_short_name_or_name(service: Service) -> None:
    env = service_environment(service)
    organisation = service.new_organisation("Kaede & Momiji Partners")
    names = (organisation.organisation_id, "Kaede & Momiji Partners", "KAEDE-momiji-partners")

    for name in names:
        result = run_command("groups", "list", "--organisation", name, "--json", env=env)
        assert (result.returncode, result.stdout) == (0, '{"groups":[]}\n'), result.stderr

    for name in ("kaede momiji partners", "nobody", ""):
        result = run_command("groups", "list", "--organisation", name, env=env)
        assert result.returncode == 2
        assert "No organisation has this id or name." in result.stderr
