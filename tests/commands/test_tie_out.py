"""`nimbill tie-out`: exit codes, and names beside ids."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from unittest.mock import Mock

from nimbill.commands.tie_out import format_difference
from tests.commands.organisation_commands import OrganisationCommands
from tests.invoicing.month_end import ACCOUNTS_OF_A, EXAMPLE_A, MONTH, MonthEnd


def test_differences_name_groups_and_accounts(
    commands: OrganisationCommands, tmp_path: Path
) -> None:
    month_end = MonthEnd(commands.service, tmp_path)
    group = month_end.create_group("BG-A", *ACCOUNTS_OF_A)
    month_end.import_costs(*EXAMPLE_A)
    month_end.prepare_groups(group)

    before = commands.run("tie-out", MONTH, "--vendor", "aws")
    month_end.create_invoices(group)
    after = commands.load("tie-out", MONTH, "--vendor", "aws")

    assert before.returncode == 1
    assert f"{group} (BG-A name)" in before.stdout
    assert "222222222222 (account 222222222222) AmazonRDS" in before.stdout
    assert after["ties"] is True


def test_a_difference_without_a_service_has_no_gap() -> None:
    difference = Mock(
        reason="sums_differ",
        invoice_no=None,
        company_id=None,
        customer_id="111111111111",
        service="",
        marketplace=False,
        invoiced=Decimal(1),
        counts=Decimal(3),
        currency="USD",
        difference=Decimal(-2),
    )

    assert format_difference(difference, {}) == (
        "sums_differ: no billing group 111111111111 no service: "
        "invoiced 1, charged 3 USD, difference -2"
    )
