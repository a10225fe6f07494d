"""`nimbill invoice`: create invoices and write them as PDF files."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.run_command import run_command, service_environment
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MONTH, MonthEnd
from tests.running_service import Service

InvoiceCommand = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def month_end(service: Service, tmp_path: Path) -> MonthEnd:
    return MonthEnd(service, tmp_path)


@pytest.fixture
def invoice(service: Service) -> InvoiceCommand:
    env = service_environment(service)
    organisation = ["--organisation", service.organisation.organisation_id]
    return lambda *arguments: run_command("invoice", *arguments, *organisation, env=env)


def test_invoices_are_created_and_written_as_pdf(
    month_end: MonthEnd, invoice: InvoiceCommand, tmp_path: Path
) -> None:
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A)
    without_accounts = month_end.create_group("BG-B")
    month_end.import_costs(*EXAMPLE_A)
    month_end.prepare_groups(group)

    created = invoice("create", MONTH, "--vendor", "aws", "--json")
    written = invoice("print", MONTH, "--into", str(tmp_path / "pdf"))

    assert created.returncode == 0, created.stderr
    result = json.loads(created.stdout)
    assert [warning["code"] for warning in result.pop("warnings")] == ["issuer_missing"]
    assert result == {
        "status": "success",
        "created": [{"company_id": group, "vendor": "aws", "invoice_no": "202609-0001"}],
        "skipped": [{"company_id": without_accounts, "reason": "no_accounts"}],
    }
    assert written.returncode == 0, written.stderr
    (file,) = (tmp_path / "pdf").iterdir()
    assert file.name == "202609-0001-aws.pdf"
    assert file.read_bytes().startswith(b"%PDF")
    assert month_end.get_invoice(group)["sheet"]["total"] == 190472


def test_missing_settings_and_skipped_groups_set_the_exit_code(
    month_end: MonthEnd, invoice: InvoiceCommand
) -> None:
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A)

    refused = invoice("create", MONTH, "--vendor", "aws")
    month_end.prepare_groups(group)
    unprepared = month_end.create_group("BG-B", "000000000009")
    partial = invoice("create", MONTH, "--vendor", "aws")

    assert refused.returncode == 2
    assert "settings_missing" in refused.stderr
    assert partial.returncode == 1
    assert "1 invoices created, 1 groups skipped" in partial.stdout
    assert unprepared in partial.stdout


def test_printing_a_month_without_invoices_is_no_success(
    invoice: InvoiceCommand, tmp_path: Path
) -> None:
    result = invoice("print", MONTH, "--into", str(tmp_path / "pdf"))

    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr == "nimbill: No invoice was created for this month.\n"
    assert not (tmp_path / "pdf").exists()


def test_printing_for_an_unknown_organisation_is_refused(service: Service, tmp_path: Path) -> None:
    arguments = ("invoice", "print", MONTH, "--into", str(tmp_path / "pdf"))

    result = run_command(
        *arguments, "--organisation", "org_unknown", env=service_environment(service)
    )

    assert result.returncode == 2
    assert result.stderr == "nimbill: No organisation has this id.\n"
    assert not (tmp_path / "pdf").exists()


@pytest.mark.parametrize("month", ["2026-9", "september"])
def test_an_invalid_month_is_refused(invoice: InvoiceCommand, month: str) -> None:
    result = invoice("create", month, "--vendor", "aws")

    assert result.returncode == 2
    assert "yyyy-mm" in result.stderr
