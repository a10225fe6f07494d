"""Changes to cloud accounts: the checks in order, then the change."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.hooks import ListChargedAccounts
from nimbill.customers.billing_groups.operations import require_company_id
from nimbill.customers.cloud_accounts import records
from nimbill.customers.cloud_accounts.bodies import (
    CloudAccountCreate,
    CloudAccountRecord,
    CloudAccountUpdate,
)
from nimbill.database.tenant_scope import TenantScope
from nimbill.foundation.errors import Conflict, NotPermitted, not_found
from nimbill.http.object_version import ObjectVersion

# See docs/choices.md, restricted-users-change-own-groups.


async def create_account(
    db: AsyncConnection,
    scope: TenantScope,
    body: CloudAccountCreate,
    list_charged_accounts: ListChargedAccounts,
) -> None:
    """Refuse an unknown billing group and a customer_id that is already in use."""
    await require_company_id(db, scope, body.company_id)
    if await find_accounts_outside(db, scope, [body.customer_id], list_charged_accounts):
        raise NotPermitted(
            "narrowed_caller",
            "This customer_id has costs or belongs to a group outside the billing groups to which "
            "you are restricted. Ask a user without this restriction.",
        )
    if await records.customer_id_exists(db, scope, body.customer_id):
        raise Conflict("customer_id_taken", "This customer_id is already in use.")
    await records.add_account(db, scope, body)


async def find_accounts_outside(
    db: AsyncConnection,
    scope: TenantScope,
    customer_ids: Collection[str],
    list_charged_accounts: ListChargedAccounts,
) -> set[str]:
    """Return the accounts that a restricted caller must not bring into a group of theirs.

    They are in a hidden group, or they are in none and have costs, which the caller would see.
    """
    if scope.billing_groups is None:
        return set()
    groups = await records.load_groups_of_accounts(db, scope, customer_ids)
    hidden = {name for name, group in groups.items() if group not in scope.billing_groups}
    charged = await list_charged_accounts(db, scope, customer_ids)
    return hidden | (set(charged) - groups.keys())


async def update_account(
    db: AsyncConnection, scope: TenantScope, customer_id: str, body: CloudAccountUpdate
) -> None:
    account = await records.lock_account(db, scope, customer_id)
    if account is None:
        raise not_found()
    if account.vendor != body.vendor:
        raise Conflict("vendor_fixed", "The vendor of an account cannot be changed.")
    await require_company_id(db, scope, body.company_id)
    await records.update_account(db, scope, customer_id, body)


async def delete_account(
    db: AsyncConnection, scope: TenantScope, vendor: str, both_ids: str
) -> None:
    """Delete the account `customer_id|account_id`; vendor and both ids must match."""
    customer_id, separator, account_id = both_ids.rpartition("|")
    account = await records.lock_account(db, scope, customer_id) if separator else None
    if account is None or account.vendor != vendor or account.account_id != account_id:
        raise not_found()
    try:
        async with db.begin_nested():
            await records.delete_account(db, scope, customer_id)
    except IntegrityError:
        raise Conflict(
            "account_holds_reservation",
            "Reserved instances were moved to this account. Remove these moves first.",
        ) from None


# See docs/choices.md, object-versions.


def build_account_version(account: CloudAccountRecord) -> ObjectVersion:
    return _build_version(
        account.customer_id,
        account.vendor,
        account.account_id,
        account.company_id,
        account.customer_name,
        account.note,
    )


def _build_version(customer_id: str, *values: str | None) -> ObjectVersion:
    return ObjectVersion([customer_id, *values], f"acct/{customer_id}")


async def load_account_version(
    db: AsyncConnection, caller: Caller, path: Mapping[str, Any], lock: bool
) -> ObjectVersion | None:
    """A path names the account by its customer_id, or by `customer_id|account_id`."""
    customer_id = path.get("customer_id") or str(path["both_ids"]).rpartition("|")[0]
    row = await records.find_account(db, caller.scope, customer_id, lock=lock)
    if row is None:
        return None
    return _build_version(
        row.customer_id, row.vendor, row.account_id, row.company_id, row.name, row.note
    )
