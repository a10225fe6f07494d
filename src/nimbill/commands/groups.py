"""`nimbill groups`: list, show, create, update and import billing groups."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cyclopts import App, Parameter

from nimbill.application.command_transaction import CommandTransaction
from nimbill.commands.billing_group_argument import name_group, require_group
from nimbill.commands.console import JsonSwitch, print_json, print_text
from nimbill.commands.organisation_command import Organisation, run_changing, run_reading
from nimbill.commands.tables import OutputColumn, print_fields, print_rows
from nimbill.customers.billing_groups import operations, records
from nimbill.customers.billing_groups.bodies import (
    BillingGroupCreate,
    BillingGroupCreated,
    BillingGroupsCreated,
    BillingGroupUpdate,
)
from nimbill.customers.billing_groups.csv_import import create_billing_groups_from_csv
from nimbill.customers.billing_groups.records import BillingGroupRecord
from nimbill.foundation import exact_json
from nimbill.foundation.language import Language
from nimbill.http.request_bodies import Success, parse_body

# See docs/choices.md, command-line.

groups = App(name="groups", help="The billing groups: who is invoiced.")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class GroupOptions:
    """Optional fields of a billing group.

    Parameters
    ----------
    phone
        Phone number.
    postal
        Postal code.
    address
        Address.
    billing_title
        Title of the invoice.
    personal
        Name of the contact.
    remarks
        Remarks on the invoice.
    inv_aggregate
        Print the invoices of all vendors together.
    project_id
        Id of the project.
    invoice_template_id
        Id of the invoice template.
    language
        Language of the invoice.
    """

    phone: str | None = None
    postal: str | None = None
    address: str | None = None
    billing_title: str | None = None
    personal: str | None = None
    remarks: str | None = None
    inv_aggregate: bool | None = None
    project_id: str | None = None
    invoice_template_id: str | None = None
    language: Language | None = None


@groups.command(name="list")
def list_(*, organisation: Organisation, json: JsonSwitch = False) -> None:
    """List the billing groups."""
    found = run_reading(
        "groups list",
        organisation,
        lambda command: records.list_billing_groups(command.db, command.scope),
    )
    if json:
        print_json(exact_json.encode({"groups": found}))
        return
    columns = [
        OutputColumn("billinggroup_id"),
        OutputColumn("name", wraps=True),
        OutputColumn("accounts", right=True),
        OutputColumn("company_id"),
    ]
    print_rows(
        columns,
        [
            [
                group.billinggroup_id,
                group.billinggroup_name,
                f"{len(group.account)}",
                group.company_id,
            ]
            for group in found
        ],
    )


@groups.command
def show(group: str, /, *, organisation: Organisation, json: JsonSwitch = False) -> None:
    """Show a billing group with its terms and accounts.

    Parameters
    ----------
    group
        Its billinggroup_id or company_id.
    """
    record = run_reading("groups show", organisation, lambda command: require_group(command, group))
    if json:
        print_json(exact_json.encode({"group": record}))
    else:
        _print_record(record)


@groups.command
def create(
    billinggroup_id: str,
    /,
    *,
    name: str,
    company: str,
    options: GroupOptions | None = None,
    organisation: Organisation,
    json: JsonSwitch = False,
) -> None:
    """Create a billing group.

    Parameters
    ----------
    billinggroup_id
        Id of the group, unique in the organisation.
    name
        Name of the group.
    company
        Name of the company on the invoice.
    """
    sent = {
        "inv_aggregate": False,
        **_list_sent(options),
        "billinggroup_id": billinggroup_id,
        "billinggroup_name": name,
        "company_name": company,
    }
    body = parse_body(BillingGroupCreate, sent)

    async def run(command: CommandTransaction) -> str:
        company_id = await operations.create_billing_group(command.db, command.scope, body)
        resource = f"billinggroup/{company_id}"
        await command.audit("create_billing_group", resource, sent, company_id)
        return company_id

    company_id = run_changing("groups create", organisation, run)
    if json:
        created = BillingGroupCreated(company_id=company_id, billinggroup_id=billinggroup_id)
        print_json(exact_json.encode(created))
    else:
        print_text(f"created {billinggroup_id} {name} ({company_id})")


@groups.command
def update(
    group: str,
    /,
    *,
    billinggroup_id: str | None = None,
    name: str | None = None,
    company: str | None = None,
    options: GroupOptions | None = None,
    organisation: Organisation,
    json: JsonSwitch = False,
) -> None:
    """Change a billing group. Fields that are not named keep their value; "" clears a text.

    Parameters
    ----------
    group
        Its billinggroup_id or company_id.
    billinggroup_id
        Its new billinggroup_id.
    name
        Name of the group.
    company
        Name of the company on the invoice.
    """
    sent = _list_sent(options)

    async def run(command: CommandTransaction) -> str:
        record = await require_group(command, group)
        fields = {
            **sent,
            "billinggroup_id": billinggroup_id or record.billinggroup_id,
            "billinggroup_name": name or record.billinggroup_name,
            "company_name": company or record.name,
        }
        await _update_group(command, record.company_id, fields)
        return name_group(record)

    updated = run_changing("groups update", organisation, run)
    if json:
        print_json(exact_json.encode(Success()))
    else:
        print_text(f"updated {updated}")


@groups.command(name="import")
def import_(file: Path, /, *, organisation: Organisation, json: JsonSwitch = False) -> None:
    """Create billing groups from a CSV file: all of its lines, or none.

    Parameters
    ----------
    file
        The file, with the headers of the exported file or the names of the fields.
    """
    content = file.read_bytes()
    created = run_changing(
        "groups import",
        organisation,
        lambda command: create_billing_groups_from_csv(
            command.db, command.scope, content, actor=command.actor
        ),
    )
    if json:
        print_json(exact_json.encode(BillingGroupsCreated(created=created)))
    else:
        print_text(f"created {len(created)} billing groups")


async def _update_group(command: CommandTransaction, company_id: str, sent: dict[str, Any]) -> None:
    """The template is linked by an operation of its own, as over HTTP."""
    template_id = sent.pop("invoice_template_id", None)
    body = parse_body(BillingGroupUpdate, sent)
    await operations.update_billing_group(command.db, command.scope, company_id, body)
    if template_id is not None:
        await operations.link_invoice_template(command.db, command.scope, company_id, template_id)
        sent = sent | {"invoice_template_id": template_id}
    await command.audit("update_billing_group", f"billinggroup/{company_id}", sent, company_id)


def _list_sent(options: GroupOptions | None) -> dict[str, Any]:
    fields = {} if options is None else asdict(options)
    return {name: value for name, value in fields.items() if value is not None}


def _print_record(record: BillingGroupRecord) -> None:
    shown = (
        *("billinggroup_id", "billinggroup_name", "company_id", "name", "contact", "title"),
        *("postal", "address", "phone", "remarks", "inv_aggregate", "language"),
        *("project_id", "project_label", "invoice_template_id"),
    )
    values = {field: getattr(record, field) for field in shown}
    print_fields({field: "" if value is None else str(value) for field, value in values.items()})
    for vendor, setting in record.invoices.items():
        print_text(f"\n{vendor} terms")
        print_fields({field: str(getattr(setting, field)) for field in setting.__struct_fields__})
    if record.account:
        print_text("")
        columns = [
            OutputColumn("vendor"),
            OutputColumn("account"),
            OutputColumn("name", wraps=True),
        ]
        rows = [[item.vendor, item.customer_id, item.customer_name] for item in record.account]
        print_rows(columns, rows)
