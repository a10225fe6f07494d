"""The option --vendor: a month of GCP on the command line, and vendors that are not enabled."""

from __future__ import annotations

from pathlib import Path

from tests.commands.organisation_commands import OrganisationCommands
from tests.costs.formats.gcp_files import CUSTOMER, PAYER, build_line, write_file
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.invoicing.month_end import MONTH
from tests.invoicing.runs.billed_vendors import SETTING

VENDOR = ("--vendor", "gcp")


def test_a_month_of_an_enabled_vendor_is_billed(
    commands: OrganisationCommands, tmp_path: Path
) -> None:
    service = commands.service
    file = str(write_file([build_line(cost="3", credits=["-1"])], tmp_path, "jsonl"))
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG-1")

    refused = commands.refuse("import", file, *VENDOR)
    settings = commands.load("settings", "set", "vendors=aws,azure,gcp")["settings"]
    payer = ("--account-id", PAYER, "--name", "Shop")
    commands.succeed("accounts", "assign", CUSTOMER, "BG-1", *VENDOR, *payer)
    imported = commands.load("import", file, *VENDOR)
    body = {"settings": {company_id: {"gcp": SETTING}}, "internal": False}
    path = f"/m/core/invoices/save/{MONTH}"
    saved = service.http.put(path, json=body, headers=service.root())
    commands.succeed("rates", "set", MONTH, "100", *VENDOR)
    created = commands.load("invoice", "create", MONTH, *VENDOR)
    tied = commands.load("tie-out", MONTH, *VENDOR)
    closed = commands.succeed("month", "close", MONTH, *VENDOR)

    assert "The vendor gcp is not enabled" in refused
    assert "Enabled: aws, azure." in refused
    assert settings["vendors"] == ["aws", "azure", "gcp"]
    assert (imported["state"], saved.status_code) == ("done", 200)
    assert [invoice["vendor"] for invoice in created["created"]] == ["gcp"]
    assert (tied["ties"], closed) == (True, f"gcp {MONTH} is closed\n")


def test_messages_list_the_enabled_vendors(commands: OrganisationCommands) -> None:
    names = 'provider_names={"oracle":["Oracle"]}'
    commands.succeed("settings", "set", "vendors=aws,azure,oracle", names)

    shown = commands.load("month", "show", MONTH)
    error = commands.refuse("month", "show", MONTH, *VENDOR)
    exported = commands.refuse("export", "focus", MONTH, "--vendor", "ibm")

    assert [month["vendor"] for month in shown["vendors"]] == ["aws", "azure", "oracle"]
    assert "vendor: one of aws, azure, oracle" in error
    assert "vendor: one of aws, azure, gcp, oracle" in exported
