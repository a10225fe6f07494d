"""`nimbill accounts`: list, assign and import customers' accounts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cyclopts import App

from nimbill.application.command_transaction import CommandTransaction
from nimbill.commands.billing_group_argument import name_group, require_group
from nimbill.commands.console import JsonSwitch, print_json, print_text
from nimbill.commands.organisation_command import Organisation, run_changing, run_reading
from nimbill.commands.tables import OutputColumn, print_rows
from nimbill.commands.vendor_argument import BilledVendorName, list_named_vendors
from nimbill.costs.lake.records import list_charged_accounts
from nimbill.customers.cloud_accounts import operations, records
from nimbill.customers.cloud_accounts.bodies import (
    AccountsCreated,
    CloudAccountCreate,
    CloudAccountRecord,
    CloudAccountUpdate,
)
from nimbill.customers.cloud_accounts.csv_import import create_accounts_from_csv
from nimbill.customers.organisation_settings.records import load_vendors
from nimbill.foundation import exact_json
from nimbill.http.request_bodies import Success, parse_body

# See docs/choices.md, command-line.

accounts = App(name="accounts", help="The customers' accounts at the cloud vendors.")


@accounts.command(name="list")
def list_(
    *, organisation: Organisation, vendor: BilledVendorName | None = None, json: JsonSwitch = False
) -> None:
    """List the accounts with their billing groups.

    Parameters
    ----------
    vendor
        List the accounts at one vendor only.
    """

    async def run(command: CommandTransaction) -> list[CloudAccountRecord]:
        return [
            account
            for name in await list_named_vendors(command, vendor)
            for account in (await records.list_accounts(command.db, command.scope, name))[0]
        ]

    found = run_reading("accounts list", organisation, run)
    if json:
        print_json(exact_json.encode({"accounts": found}))
        return
    columns = [
        OutputColumn("vendor"),
        OutputColumn("account"),
        OutputColumn("name", wraps=True),
        OutputColumn("group"),
        OutputColumn("group name", wraps=True),
    ]
    print_rows(
        columns,
        [
            [
                account.vendor,
                account.customer_id,
                account.customer_name,
                account.billinggroup_id,
                account.billinggroup_name,
            ]
            for account in found
        ],
    )


@accounts.command
def assign(
    customer_id: str,
    group: str,
    /,
    *,
    vendor: BilledVendorName | None = None,
    account_id: str | None = None,
    name: str | None = None,
    note: str | None = None,
    organisation: Organisation,
    json: JsonSwitch = False,
) -> None:
    """Assign an account to a billing group. An unknown account is created.

    Parameters
    ----------
    customer_id
        The account number or subscription id.
    group
        The billinggroup_id or company_id of the group.
    vendor
        The vendor; required for a new account.
    account_id
        The payer's account number; required for a new account.
    name
        Name of the account; required for a new account.
    note
        A note.
    """
    options = {"vendor": vendor, "account_id": account_id, "name": name, "note": note}
    sent = {field: value for field, value in options.items() if value is not None}

    async def run(command: CommandTransaction) -> str:
        record = await require_group(command, group)
        account_name = await _assign(command, customer_id, record.company_id, sent)
        return f"{customer_id} ({account_name}) belongs to {name_group(record)}"

    text = run_changing("accounts assign", organisation, run)
    if json:
        print_json(exact_json.encode(Success()))
    else:
        print_text(text)


@accounts.command(name="import")
def import_(file: Path, /, *, organisation: Organisation, json: JsonSwitch = False) -> None:
    """Create accounts from a CSV file: all of its lines, or none.

    Parameters
    ----------
    file
        The file; its header names the fields of an account and billinggroup_id or company_id.
    """
    content = file.read_bytes()
    created = run_changing(
        "accounts import",
        organisation,
        lambda command: create_accounts_from_csv(
            command.db, command.scope, content, list_charged_accounts, actor=command.actor
        ),
    )
    if json:
        print_json(exact_json.encode(AccountsCreated(created=created)))
    else:
        print_text(f"created {len(created)} accounts")


async def _assign(
    command: CommandTransaction, customer_id: str, company_id: str, sent: Mapping[str, Any]
) -> str:
    """Fields of an existing account that are not named keep their value. Return its name."""
    resource = f"acct/{customer_id}"
    vendors = await load_vendors(command.db, command.scope, lock=True)
    stored = await records.lock_account(command.db, command.scope, customer_id)
    if stored is None:
        fields = {**sent, "customer_id": customer_id, "company_id": company_id}
        created = parse_body(CloudAccountCreate, fields, vendors)
        await operations.create_account(command.db, command.scope, created, list_charged_accounts)
        await command.audit("create_account", resource, fields, company_id)
        return created.name
    kept = {"vendor": stored.vendor, "account_id": stored.account_id, "name": stored.name}
    fields = {**kept, **sent, "company_id": company_id}
    changed = parse_body(CloudAccountUpdate, fields, vendors)
    await operations.update_account(command.db, command.scope, customer_id, changed)
    await command.audit("update_account", resource, fields, company_id)
    return changed.name
