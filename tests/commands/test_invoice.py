"""`nimbill invoice` in real processes: what it makes, prints and says."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from nimbill.database.embedded_postgres import Address
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MONTH, MonthEnd
from tests.proof.real_server import environment_for, nimbill
from tests.running_service import Service

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def month_end(service: Service, tmp_path: Path) -> MonthEnd:
    return MonthEnd(service, tmp_path)


@pytest.fixture
def command(service: Service, postgres: Address) -> Command:
    settings = {
        "NIMBILL_DATABASE_URL": postgres.url,
        "NIMBILL_KEY_FILE": str(service.settings.key_file),
    }
    env = environment_for(service.settings.data, settings)
    whose = ["--organisation", service.organisation.organisation_id]
    return lambda *words: nimbill("invoice", *words, *whose, env=env)


def test_a_month_is_billed_and_printed_from_the_command_line(
    month_end: MonthEnd, command: Command, tmp_path: Path
) -> None:
    group = month_end.group("BG-A", *ACCOUNTS_OF_A)
    idle = month_end.group("BG-B")
    month_end.costs(*EXAMPLE_A)
    month_end.ready(group)

    made = command("create", MONTH, "--vendor", "aws", "--json")
    printed = command("print", MONTH, "--into", str(tmp_path / "papers"))

    assert (made.returncode, json.loads(made.stdout)) == (
        0,
        {
            "status": "success",
            "created": [{"company_id": group, "vendor": "aws", "invoice_no": "202609-0001"}],
            "skipped": [{"company_id": idle, "reason": "no_accounts"}],
        },
    )
    assert printed.returncode == 0, printed.stderr
    (paper,) = (tmp_path / "papers").iterdir()
    assert paper.name == "202609-0001-aws.pdf"
    assert paper.read_bytes().startswith(b"%PDF")
    assert month_end.invoice(group)["sheet"]["total"] == 190472


def test_what_is_missing_is_said_and_is_the_exit_code(
    month_end: MonthEnd, command: Command
) -> None:
    group = month_end.group("BG-A", *ACCOUNTS_OF_A)

    nothing = command("create", MONTH, "--vendor", "aws")
    month_end.ready(group)
    lacking = month_end.group("BG-B", "000000000009")
    some = command("create", MONTH, "--vendor", "aws")

    assert nothing.returncode == 2
    assert "settings_missing" in nothing.stderr
    assert some.returncode == 1
    assert "1 invoices made, 1 groups skipped" in some.stdout
    assert lacking in some.stdout


@pytest.mark.parametrize("month", ["2026-9", "september"])
def test_a_month_that_is_none_is_refused(command: Command, month: str) -> None:
    done = command("create", month, "--vendor", "aws")

    assert done.returncode == 2
    assert "yyyy-mm" in done.stderr
