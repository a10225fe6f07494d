"""Assigns many accounts to one billing group: all of them, or none."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.hooks import ListChargedAccounts
from nimbill.audit import records as audit
from nimbill.audit.records import AuditedChange, describe_change
from nimbill.customers.billing_groups.operations import require_company_id
from nimbill.customers.cloud_accounts import records
from nimbill.customers.cloud_accounts.bodies import (
    AccountsAssign,
    AccountsAssigned,
    CloudAccountCreate,
)
from nimbill.customers.cloud_accounts.operations import find_accounts_outside
from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.errors import Violation, refuse_if


async def assign_accounts(
    db: AsyncConnection,
    scope: TenantScope,
    body: AccountsAssign,
    list_charged_accounts: ListChargedAccounts,
    *,
    actor: Mapping[str, Any],
) -> AccountsAssigned:
    """Move registered accounts to the group and register the others there.

    Every error names its account. Each account has its own audit row; `actor` is for the audit log.
    """
    await require_company_id(db, scope, body.company_id)
    customer_ids = [account.customer_id for account in body.accounts]
    outside = await find_accounts_outside(db, scope, customer_ids, list_charged_accounts)
    registered = await records.lock_accounts(db, scope, customer_ids)
    refuse_if(list(_find_violations(body, registered, outside)))

    moved = [name for name, row in registered.items() if row.company_id != body.company_id]
    created = [
        CloudAccountCreate(
            vendor=account.vendor,
            customer_id=account.customer_id,
            account_id=account.account_id or "",
            company_id=body.company_id,
            name=account.name or account.customer_id,
        )
        for account in body.accounts
        if account.customer_id not in registered
    ]
    await records.move_accounts(db, scope, moved, body.company_id)
    if created:
        await records.add_accounts(db, scope, created)
    await audit.append_entries(db, _describe_changes(body, actor))
    return AccountsAssigned(created=len(created), moved=len(moved))


def _find_violations(
    body: AccountsAssign, registered: Mapping[str, Row], outside: Collection[str]
) -> Iterator[Violation]:
    seen: set[str] = set()
    for index, account in enumerate(body.accounts):
        field, row = f"accounts[{index}].customer_id", registered.get(account.customer_id)
        if account.customer_id in seen:
            yield Violation(field, "named once")
        elif account.customer_id in outside:
            yield Violation(field, "not in use outside your billing groups")
        elif row is not None and row.vendor != account.vendor:
            yield Violation(f"accounts[{index}].vendor", "the vendor of the registered account")
        elif row is None and not account.account_id:
            yield Violation(f"accounts[{index}].account_id", "required for a new account")
        seen.add(account.customer_id)


def _describe_changes(body: AccountsAssign, actor: Mapping[str, Any]) -> Iterator[AuditedChange]:
    for account in body.accounts:
        yield describe_change(
            actor,
            action="assign_account",
            resource=f"acct/{account.customer_id}",
            company_id=body.company_id,
            sent={"vendor": account.vendor, "company_id": body.company_id},
        )
