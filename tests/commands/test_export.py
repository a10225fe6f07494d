"""`nimbill export focus`: write the costs or the invoices of a month as FOCUS files."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from nimbill.foundation.money import sum_decimals
from tests.commands.run_command import run_command, service_environment
from tests.costs.generated_months import build_line
from tests.costs.stored_months import store_month
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MonthEnd
from tests.running_service import Service

ExportCommand = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def export(service: Service) -> ExportCommand:
    env = service_environment(service)
    organisation = ("--organisation", service.organisation.organisation_id)
    return lambda *arguments: run_command("export", "focus", *arguments, *organisation, env=env)


def test_the_current_lines_of_all_vendors_or_of_one_are_written(
    service: Service, export: ExportCommand, tmp_path: Path
) -> None:
    store_month(service, [build_line(), build_line()])
    store_month(service, [build_line()])  # replaces the first import
    store_month(service, [build_line(), build_line(), build_line()], vendor="azure")
    all_vendors, only_aws = tmp_path / "all.parquet", tmp_path / "aws.parquet"

    complete = export("2026-09", "--output", str(all_vendors))
    partial = export("2026-09", "--output", str(only_aws), "--vendor", "aws")

    assert (complete.returncode, complete.stdout) == (0, f"{all_vendors}: 4 lines\n"), (
        complete.stderr
    )
    assert partial.stdout == f"{only_aws}: 1 lines\n"
    providers = pq.read_table(all_vendors)["ProviderName"].to_pylist()
    assert providers == ["AWS", "Microsoft", "Microsoft", "Microsoft"]


def test_a_month_without_imports_and_an_invalid_month_are_refused(
    export: ExportCommand, tmp_path: Path
) -> None:
    for month in ("2026-09", "2026-13"):
        result = export(month, "--output", str(tmp_path / "out.parquet"))

        assert result.returncode == 2
        assert len(result.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_version_1_4_is_a_folder_with_the_created_invoices(
    service: Service, export: ExportCommand, tmp_path: Path
) -> None:
    month_end = MonthEnd(service, tmp_path)
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A)
    month_end.import_costs(*EXAMPLE_A)
    month_end.prepare_groups(group)
    month_end.create_invoices(group)
    billed, charged = tmp_path / "billed", tmp_path / "charged"

    customer = export(
        "2026-09", "--focus", "1.4", "--price", "customer", "-o", str(billed), "--json"
    )
    vendor = export("2026-09", "--focus", "1.4", "-o", str(charged))

    assert customer.returncode == vendor.returncode == 0, customer.stderr + vendor.stderr
    names = ["cost_and_usage.parquet", "invoice_detail.parquet", "billing_period.parquet"]
    written = json.loads(customer.stdout)["files"]
    assert [file["file"] for file in written] == [str(billed / name) for name in names]
    charges, details, periods = (pq.read_table(billed / name) for name in names)
    assert [file["lines"] for file in written] == [len(charges), len(details), len(periods)]
    total = month_end.get_invoice(group)["sheet"]["total"]
    for table in (charges, details):
        assert set(table["InvoiceId"].to_pylist()) == {"202609-0001"}
        assert sum_decimals(table["BilledCost"].to_pylist()) == total
    assert len(periods) == 1
    lines = pq.read_table(charged / names[0])
    assert set(lines["InvoiceIssuerName"].to_pylist()) == {"AWS"}
    assert pq.read_table(charged / names[1]).equals(details)
    assert "AWS" in pq.read_table(charged / names[2])["InvoiceIssuerName"].to_pylist()


def test_a_month_without_invoices_and_a_file_in_place_of_the_folder_are_refused(
    service: Service, export: ExportCommand, tmp_path: Path
) -> None:
    store_month(service, [build_line()])
    occupied = tmp_path / "occupied"
    occupied.write_text("not a folder")

    without_invoices = export("2026-09", "--price", "customer", "-o", str(tmp_path / "new"))
    not_a_folder = export("2026-09", "--focus", "1.4", "-o", str(occupied))

    assert (without_invoices.returncode, not_a_folder.returncode) == (2, 2)
    assert "Create them" in without_invoices.stderr
    assert "The file was not written." in not_a_folder.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["occupied"]


def test_an_unknown_organisation_is_refused(service: Service, tmp_path: Path) -> None:
    arguments = ("export", "focus", "2026-09", "--output", str(tmp_path / "out.parquet"))

    result = run_command(
        *arguments, "--organisation", "org_unknown", env=service_environment(service)
    )

    assert result.returncode == 2
    assert result.stderr == "nimbill: No organisation has this id or name.\n"


def test_an_output_file_that_cannot_be_written_is_refused(
    service: Service, export: ExportCommand, tmp_path: Path
) -> None:
    store_month(service, [build_line()])

    result = export("2026-09", "--output", str(tmp_path / "missing" / "out.parquet"))

    assert result.returncode == 2
    assert "No such file or directory" in result.stderr
