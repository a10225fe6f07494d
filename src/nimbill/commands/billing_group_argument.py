"""Finds the billing group that an argument names, by billinggroup_id or by company_id."""

from nimbill.application.command_transaction import CommandTransaction
from nimbill.customers.billing_groups.records import (
    BillingGroupRecord,
    find_billing_group,
    load_group_keys,
)
from nimbill.foundation.errors import NotFound


async def require_group(command: CommandTransaction, group: str) -> BillingGroupRecord:
    keys = await load_group_keys(
        command.db, command.scope, billinggroup_ids=[group], company_ids=[group]
    )
    company_ids = [key.company_id for key in keys]
    if not company_ids:
        raise NotFound("not_found", "No billing group has this billinggroup_id or company_id.")
    # A company_id is unique; another group could have it as its billinggroup_id.
    company_id = group if group in company_ids else company_ids[0]
    record = await find_billing_group(command.db, command.scope, company_id)
    assert record is not None, "it was found in this transaction"
    return record


def name_group(record: BillingGroupRecord) -> str:
    return f"{record.billinggroup_id} {record.billinggroup_name} ({record.company_id})"
