"""`nimbill import`: exit codes, output, and sources."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from nimbill.commands.import_costs import format_summary, list_messages
from tests.commands.run_command import run_command, service_environment
from tests.costs.object_store_server import CREDENTIALS, object_store
from tests.imports.aws_reports import CUSTOMER, build_report, report_line, write_report
from tests.proof.real_server import nimbill
from tests.running_service import Service


@dataclass(frozen=True)
class ImportCommand:
    env: Mapping[str, str]
    organisation_id: str

    @property
    def options(self) -> list[str]:
        return ["--vendor", "aws", "--organisation", self.organisation_id]

    def __call__(self, source: str) -> tuple[int, dict[str, Any]]:
        """Return the exit code and the JSON output."""
        result = run_command("import", source, *self.options, "--json", env=self.env)
        assert result.stdout, result.stderr
        return result.returncode, json.loads(result.stdout)


@pytest.fixture
def import_files(service: Service) -> ImportCommand:
    env = service_environment(service, **CREDENTIALS)
    return ImportCommand(env, service.organisation.organisation_id)


def test_a_file_is_imported_once_and_a_broken_file_is_refused(
    import_files: ImportCommand, tmp_path: Path
) -> None:
    valid = write_report(tmp_path / "a.csv", [report_line("1.5"), report_line("2")])
    broken = write_report(tmp_path / "b.csv", [report_line("1.234,56")])

    code, record = import_files(str(valid))
    assert (code, record["state"], record["lines"]) == (0, "done", 2)
    assert record["accounts_in_no_group"] == [CUSTOMER]

    code, record = import_files(str(valid))
    assert (code, record["state"]) == (0, "unchanged")

    code, record = import_files(str(broken))
    assert (code, record["state"]) == (2, "refused")
    assert record["problem"]["line"] == 2
    assert record["problem"]["column"] == "lineItem/UnblendedCost"


def test_text_output_names_unknown_types_and_unassigned_accounts(
    import_files: ImportCommand, tmp_path: Path
) -> None:
    lines = [report_line("1", LineItemType="Surprise"), report_line("2", InvoiceId="")]
    file = write_report(tmp_path / "a.csv", lines)

    result = nimbill("import", str(file), *import_files.options, env=import_files.env)

    assert result.returncode == 0, result.stderr
    assert "done: aws 2026-09, 2 lines in" in result.stdout
    assert "a second" in result.stdout
    assert "unknown line types, not billed: Surprise (1)" in result.stdout
    assert "provisional" in result.stdout
    assert "1 accounts in no billing group" in result.stdout


@pytest.mark.parametrize(
    ("option", "value"),
    [("--organisation", "org_unknown"), ("--month", "2026-13"), ("--vendor", "oracle")],
)
def test_invalid_options_are_refused(
    import_files: ImportCommand, tmp_path: Path, option: str, value: str
) -> None:
    file = write_report(tmp_path / "a.csv", [])
    options = {"--vendor": "aws", "--organisation": import_files.organisation_id, option: value}
    arguments = [word for pair in options.items() for word in pair]

    result = run_command("import", str(file), *arguments, env=import_files.env)

    assert result.returncode != 0
    assert result.stderr + result.stdout


def test_a_prefix_of_an_object_store_is_imported(import_files: ImportCommand) -> None:
    with object_store() as store:
        bucket = store.bucket("bills")
        store.put(bucket, "cur/september.csv", build_report([report_line("3.25")]))

        code, record = import_files(store.address("bills/cur"))

    assert (code, record["state"]) == (0, "done"), record
    assert [total["cost"] for total in record["totals"]] == [3.25]


def test_proposed_entries_show_the_name_of_the_account() -> None:
    proposal = Mock(
        customer_id=CUSTOMER,
        calc_type="one_off",
        amount=Decimal("1.50"),
        currency="USD",
        description="late usage",
    )
    nothing = dict.fromkeys(("provisional", "unknown_types", "accounts_in_no_group", "drift"))
    record = Mock(**nothing, noticed={}, proposals=[proposal], parked_reason=None, problem=None)

    messages = list_messages(record, {CUSTOMER: "Sakura production"})

    assert messages == [
        f"proposed: one_off of 1.50 USD to {CUSTOMER} (Sakura production): late usage"
    ]


@pytest.mark.parametrize(
    ("month", "lines", "summary"),
    [
        (None, 0, "refused: azure, no lines imported"),
        ("2026-09", 0, "refused: azure 2026-09, no lines imported"),
        ("2026-09", 1200, "refused: azure 2026-09, 1,200 lines in 2.0 s (600 a second)"),
    ],
)
def test_the_summary_has_no_gap_for_a_missing_month(
    month: str | None, lines: int, summary: str
) -> None:
    record = Mock(state="refused", vendor="azure", month=month, lines=lines)

    assert format_summary(record, 2.0) == summary


def test_unnamed_line_types_and_vendors_are_described() -> None:
    nothing = dict.fromkeys(("provisional", "accounts_in_no_group", "drift", "parked_reason"))
    record = Mock(
        **nothing,
        unknown_types={"": 1, "Surprise": 2},
        noticed={"other_vendors": {"Oracle": 1500, "": 3}},
        proposals=[],
        problem=None,
    )

    assert list_messages(record, {}) == [
        "unknown line types, not billed: no type (1), Surprise (2)",
        "lines of other vendors, ignored: Oracle (1,500), no name (3)",
    ]
