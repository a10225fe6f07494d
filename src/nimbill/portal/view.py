"""What a caller of the portal sees: accounts, and of their costs certain tag values only."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.effective_permissions import load_filters
from nimbill.access.role_actions import TAG_SEPARATOR
from nimbill.customers.billing_groups.records import is_billing_group_visible
from nimbill.customers.cloud_accounts.records import cloud_accounts
from nimbill.database.tenant_scope import TenantScope, is_any_of, of_given_tenant
from nimbill.foundation.errors import NotPermitted, Violation, not_found, rule_violations_error
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import UserKind
from nimbill.portal.account_groups.records import list_member_accounts


class AccountKey(NamedTuple):
    vendor: str
    customer_id: str


class ViewedAccount(NamedTuple):
    company_id: str
    name: str


@dataclass(frozen=True, slots=True)
class PortalView:
    """The accounts that the caller sees, with their present billing group.

    With `tags`, only costs count whose tags have one of the values, for each of the keys.
    """

    scope: TenantScope
    accounts: Mapping[AccountKey, ViewedAccount]
    customer_ids: frozenset[str] | None  # that the caller's filters name; None without filter
    tags: Mapping[str, frozenset[str]]

    @property
    def is_filtered(self) -> bool:
        return self.customer_ids is not None or bool(self.tags)

    def list_names(self) -> list[tuple[str, str]]:
        """The number and the name of each account."""
        return [(key.customer_id, account.name) for key, account in self.accounts.items()]

    def admits_account(self, customer_id: str) -> bool:
        return self.customer_ids is None or customer_id in self.customer_ids

    def list_accounts_of(self, company_id: str) -> frozenset[str]:
        """The customer_ids of the visible accounts that belong to the company now."""
        return frozenset(
            key.customer_id
            for key, account in self.accounts.items()
            if account.company_id == company_id
        )


async def load_view(
    db: AsyncConnection, caller: Caller, company_id: str | None = None
) -> PortalView:
    """Load the view of the caller, or of one of the companies that it sees.

    The filters of a subuser restrict together: an account must be named by each of them.
    """
    scope = await narrow_to_company(db, caller.scope, company_id)
    filters = await _load_portal_filters(db, caller)
    named = [filters["linkAcct"]] if "linkAcct" in filters else []
    if "group" in filters:
        named.append(await list_member_accounts(db, scope, filters["group"]))
    customer_ids = frozenset.intersection(*named) if named else None
    accounts = await _list_accounts(db, scope, customer_ids)
    return PortalView(scope, accounts, customer_ids, _parse_tags(filters.get("tags")))


async def load_company_view(db: AsyncConnection, scope: TenantScope, company_id: str) -> PortalView:
    """Load all accounts of a company, for work that no caller has asked for."""
    own_scope = TenantScope(scope.organisation_id, frozenset({company_id}))
    return PortalView(own_scope, await _list_accounts(db, own_scope, None), None, {})


async def narrow_to_company(
    db: AsyncConnection, scope: TenantScope, company_id: str | None
) -> TenantScope:
    """Restrict the scope to one company; a hidden one does not exist for the caller."""
    if company_id is None:
        return scope
    if not await is_billing_group_visible(db, scope, company_id):
        raise not_found()
    return TenantScope(scope.organisation_id, frozenset({company_id}))


def require_company(scope: TenantScope) -> str:
    """Return the only company of the scope; a caller who sees several must name one."""
    company_ids = scope.billing_groups
    if company_ids is None or len(company_ids) != 1:
        rule = "required, because you see more than one company"
        raise rule_violations_error([Violation("company_id", rule)])
    (company_id,) = company_ids
    return company_id


def require_unfiltered(view: PortalView) -> None:
    """Refuse what belongs to the whole company to a subuser who sees only a part of it."""
    if view.is_filtered:
        raise NotPermitted(
            "narrowed_caller",
            "Users restricted to certain accounts, account groups or tags cannot use this. "
            "Ask a user without this restriction.",
        )


async def has_portal_filters(db: AsyncConnection, caller: Caller) -> bool:
    """Return whether the caller sees only certain accounts, account groups or tags."""
    return bool(await _load_portal_filters(db, caller))


async def _load_portal_filters(db: AsyncConnection, caller: Caller) -> Mapping[str, frozenset[str]]:
    """Root users and reseller accounts have no filters."""
    if caller.kind in (UserKind.root, UserKind.reseller):
        return {}
    filters = await load_filters(db, caller.scope, caller.user_id)
    return {
        type_: values for (product, type_), values in filters.items() if product == Product.portal
    }


# The setting lets PostgreSQL keep the plans of all further statements of the request: planning the
# terms of a report anew took four times as long as reading them.
_KEEP_PLANS = sa.func.set_config("plan_cache_mode", "force_generic_plan", True)
_accounts = cloud_accounts.c
_SELECT_ACCOUNTS = (
    sa.select(_accounts.vendor, _accounts.customer_id, _accounts.company_id, _accounts.name)
    .select_from(_KEEP_PLANS.alias().join(cloud_accounts, sa.true()))
    .where(of_given_tenant(cloud_accounts))
)
_OF_COMPANIES = is_any_of(_accounts.company_id, sa.bindparam("company_ids"))
_OF_CUSTOMERS = is_any_of(_accounts.customer_id, sa.bindparam("customer_ids"))
# built once, because every page executes one of them: whether companies and accounts are filtered
_LIST_ACCOUNTS = {
    (False, False): _SELECT_ACCOUNTS,
    (True, False): _SELECT_ACCOUNTS.where(_OF_COMPANIES),
    (False, True): _SELECT_ACCOUNTS.where(_OF_CUSTOMERS),
    (True, True): _SELECT_ACCOUNTS.where(_OF_COMPANIES, _OF_CUSTOMERS),
}


async def _list_accounts(
    db: AsyncConnection, scope: TenantScope, customer_ids: frozenset[str] | None
) -> dict[AccountKey, ViewedAccount]:
    stmt = _LIST_ACCOUNTS[scope.billing_groups is not None, customer_ids is not None]
    values = {
        "organisation_id": scope.organisation_id,
        "company_ids": list(scope.billing_groups or ()),
        "customer_ids": list(customer_ids or ()),
    }
    return {
        AccountKey(row.vendor, row.customer_id): ViewedAccount(row.company_id, row.name)
        for row in await db.execute(stmt, values)
    }


def _parse_tags(resources: frozenset[str] | None) -> dict[str, frozenset[str]]:
    """Group the values by key."""
    values: dict[str, set[str]] = {}
    for resource in resources or ():
        key, _, value = resource.partition(TAG_SEPARATOR)
        values.setdefault(key, set()).add(value)
    return {key: frozenset(of_key) for key, of_key in values.items()}
