"""The customer's accounts: their list and the change of a name."""

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.customers.cloud_accounts.records import lock_account, rename_account
from nimbill.foundation.errors import not_found
from nimbill.portal.accounts.bodies import NamedAccount
from nimbill.portal.view import PortalView, load_view


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


def list_visible_accounts(view: PortalView) -> list[NamedAccount]:
    accounts = [
        NamedAccount(
            vendor=key.vendor,
            customer_id=key.customer_id,
            company_id=account.company_id,
            name=account.name,
        )
        for key, account in view.accounts.items()
    ]
    return sorted(accounts, key=lambda account: (account.vendor, account.name, account.customer_id))
