"""Names of billing groups and accounts, which text output shows beside their ids."""

from collections.abc import Mapping

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import list_billing_groups
from nimbill.database.tenant_scope import TenantScope

# See docs/choices.md, command-line.

Names = Mapping[str, str]  # by company_id and by customer_id


async def load_names(db: AsyncConnection, scope: TenantScope) -> Names:
    groups = await list_billing_groups(db, scope)
    accounts = {
        account.customer_id: account.customer_name for group in groups for account in group.account
    }
    return accounts | {
        group.company_id: f"{group.billinggroup_id} {group.billinggroup_name}" for group in groups
    }


def add_name(id_: str, names: Names) -> str:
    """Return the id, and its name in brackets if it has one."""
    return f"{id_} ({names[id_]})" if names.get(id_) else id_
