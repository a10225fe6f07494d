"""`nimbill tie-out`: exit codes, and names beside ids."""

from __future__ import annotations

from pathlib import Path

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
