"""What may be done with customer accounts."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.customers.billing_groups.records import billing_group_visible
from nimbill.customers.cloud_accounts import records
from nimbill.customers.cloud_accounts.bodies import CloudAccountCreate, CloudAccountUpdate
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.errors import Conflict, Violation, not_found, refuse_if


async def create_account(db: AsyncConnection, scope: TenantScope, body: CloudAccountCreate) -> None:
    """Refuses a billing group that is not there and a customer_id that is."""
    await _refuse_unknown_group(db, scope, body.company_id)
    if await records.customer_id_taken(db, scope, body.customer_id):
        raise Conflict("customer_id_taken", "this customer_id is already in use")
    await records.add_account(db, scope, body)


async def update_account(
    db: AsyncConnection, scope: TenantScope, customer_id: str, body: CloudAccountUpdate
) -> None:
    account = await records.find_account(db, scope, customer_id)
    if account is None:
        raise not_found()
    if account.vendor != body.vendor:
        raise Conflict("vendor_fixed", "the vendor of an account cannot change")
    await _refuse_unknown_group(db, scope, body.company_id)
    await records.change_account(db, scope, customer_id, body)


async def delete_account(
    db: AsyncConnection, scope: TenantScope, vendor: str, both_ids: str
) -> None:
    """`both_ids` is customer_id|account_id and both must match."""
    customer_id, bar, account_id = both_ids.rpartition("|")
    account = await records.find_account(db, scope, customer_id) if bar else None
    if account is None or account.vendor != vendor or account.account_id != account_id:
        raise not_found()
    await records.delete_account(db, scope, customer_id)


async def _refuse_unknown_group(db: AsyncConnection, scope: TenantScope, company_id: str) -> None:
    if not await billing_group_visible(db, scope, company_id):
        refuse_if([Violation("company_id", "an existing billing group")])
