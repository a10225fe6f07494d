"""`nimbill accounts`: list, assign and import customers' accounts."""

from __future__ import annotations

from pathlib import Path

from tests.commands.organisation_commands import OrganisationCommands
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.customers.cloud_accounts.accounts import AZURE, add_account, list_accounts

ACCOUNT = "012345678901"


def create_group(commands: OrganisationCommands, name: str) -> str:
    return create_billing_group(commands.service, commands.service.root(), billinggroup_id=name)


def test_accounts_are_listed_with_their_groups(commands: OrganisationCommands) -> None:
    group = create_group(commands, "BG-1")
    add_account(commands.service, group)
    add_account(commands.service, group, **AZURE)

    all_accounts = commands.load("accounts", "list")["accounts"]
    text = commands.succeed("accounts", "list", "--vendor", "aws")

    assert [account["customer_id"] for account in all_accounts] == [ACCOUNT, AZURE["customer_id"]]
    assert text.splitlines()[1].split() == ["aws", ACCOUNT, "さくら本番", "BG-1", "name"]


def test_an_account_is_moved_and_keeps_its_other_fields(commands: OrganisationCommands) -> None:
    add_account(commands.service, create_group(commands, "BG-1"), note="kept")
    other = create_group(commands, "BG-2")

    text = commands.succeed("accounts", "assign", ACCOUNT, "BG-2")

    assert text == f"{ACCOUNT} (さくら本番) belongs to BG-2 name ({other})\n"
    (account,) = list_accounts(commands.service, "aws")
    assert (account["company_id"], account["note"]) == (other, "kept")
    row = commands.list_audit_rows()[0]
    assert (row["action"], row["resource"]) == ("update_account", f"acct/{ACCOUNT}")


def test_a_new_account_needs_vendor_payer_and_name(commands: OrganisationCommands) -> None:
    group = create_group(commands, "BG-1")
    assign = ("accounts", "assign", ACCOUNT, "BG-1")

    error = commands.refuse(*assign)
    commands.succeed(
        *assign, "--vendor", "aws", "--account-id", "000000000042", "--name", "さくら本番"
    )

    assert "vendor: required" in error
    assert "account_id: required" in error
    (account,) = list_accounts(commands.service, "aws")
    assert (account["company_id"], account["account_id"]) == (group, "000000000042")


def test_accounts_are_imported_from_a_file(commands: OrganisationCommands, tmp_path: Path) -> None:
    group = create_group(commands, "BG-1")
    file = tmp_path / "accounts.csv"
    header = "vendor,customer_id,account_id,name,billinggroup_id"
    file.write_text(f"{header}\naws,{ACCOUNT},000000000042,name,BG-1\n")

    text = commands.succeed("accounts", "import", str(file))
    again = commands.refuse("accounts", "import", str(file))

    assert text == "created 1 accounts\n"
    assert "line 2, customer_id: not in use yet" in again
    assert [account["company_id"] for account in list_accounts(commands.service, "aws")] == [group]
