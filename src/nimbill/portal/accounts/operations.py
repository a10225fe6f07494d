"""Changes to the customer's accounts: the checks in order, then the change."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.customers.cloud_accounts.records import lock_account, rename_account
from nimbill.foundation.basis import chosen
from nimbill.foundation.errors import not_found
from nimbill.portal.accounts.bodies import NamedAccount
from nimbill.portal.view import load_view

basis = chosen("portal-accounts")


async def rename_visible_account(
    db: AsyncConnection, caller: Caller, customer_id: str, name: str
) -> NamedAccount:
    """Rename an account; one that the caller's filters hide does not exist for it."""
    view = await load_view(db, caller)
    account = await lock_account(db, view.scope, customer_id)
    if account is None or not view.admits_account(customer_id):
        raise not_found()
    await rename_account(db, view.scope, customer_id, name)
    return NamedAccount(
        vendor=account.vendor, customer_id=customer_id, company_id=account.company_id, name=name
    )
