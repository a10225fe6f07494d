"""Changes to account groups: the checks in order, then the change."""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.customers.billing_groups.records import lock_billing_group
from nimbill.foundation.errors import (
    Conflict,
    NotFound,
    Violation,
    not_found,
    refuse_if,
    rule_violations_error,
)
from nimbill.foundation.ids import new_id
from nimbill.portal.account_groups import records
from nimbill.portal.account_groups.records import StoredGroup
from nimbill.portal.groups.bodies import AccountGroup, AccountGroupChange, AccountGroupCreate
from nimbill.portal.view import PortalView, load_view, require_company, require_unfiltered

GROUPS_MAX = 500


async def list_visible_groups(db: AsyncConnection, view: PortalView) -> list[AccountGroup]:
    """List the groups with their visible accounts.

    A user restricted to certain accounts does not see groups without any of them.
    """
    groups = [_show_group(view, group) for group in await records.list_groups(db, view.scope)]
    return [group for group in groups if group.customer_ids or view.customer_ids is None]


def _show_group(view: PortalView, group: StoredGroup) -> AccountGroup:
    """Leave out hidden accounts, and accounts that now belong to another company."""
    visible = view.list_accounts_of(group.company_id)
    return AccountGroup(
        group_id=group.group_id,
        company_id=group.company_id,
        name=group.name,
        customer_ids=[each for each in group.customer_ids if each in visible],
    )


async def create_group(db: AsyncConnection, caller: Caller, body: AccountGroupCreate) -> str:
    """Return the group_id. Groups belong to the company, so restricted users create none."""
    view = await _load_view_of_body(db, caller, body.company_id)
    require_unfiltered(view)
    company_id = require_company(view.scope)
    _require_visible(view, company_id, body.customer_ids)
    # Two requests at once could exceed the limit otherwise.
    await lock_billing_group(db, view.scope, company_id)
    await _require_free_name(db, view, company_id, body.name)
    if await records.count_groups(db, view.scope, company_id) >= GROUPS_MAX:
        raise Conflict(
            "too_many_account_groups",
            f"A company has at most {GROUPS_MAX} account groups. Delete some first.",
        )
    group_id = new_id("agr")
    await records.add_group(
        db, view.scope, group_id=group_id, company_id=company_id, name=body.name
    )
    await records.replace_members(db, view.scope, group_id, body.customer_ids)
    return group_id


async def _load_view_of_body(
    db: AsyncConnection, caller: Caller, company_id: str | None
) -> PortalView:
    """A company in a body that does not exist violates a rule; only a path is not found."""
    try:
        return await load_view(db, caller, company_id)
    except NotFound:
        violation = Violation("company_id", "an existing company")
        raise rule_violations_error([violation]) from None


async def change_group(
    db: AsyncConnection, caller: Caller, group_id: str, body: AccountGroupChange
) -> None:
    """Rename the group, replace its accounts, or both."""
    view, group = await _require_group(db, caller, group_id)
    if body.customer_ids is not None:
        _require_visible(view, group.company_id, body.customer_ids)
    if body.name is not None and body.name != group.name:
        await _require_free_name(db, view, group.company_id, body.name)
        await records.rename_group(db, view.scope, group_id, body.name)
    if body.customer_ids is not None:
        await records.replace_members(db, view.scope, group_id, body.customer_ids)


async def delete_group(db: AsyncConnection, caller: Caller, group_id: str) -> str:
    """Return the company_id. A filter that names only this group admits no account any more."""
    view, group = await _require_group(db, caller, group_id)
    await records.delete_group(db, view.scope, group_id)
    return group.company_id


async def show_group(db: AsyncConnection, caller: Caller, group_id: str) -> AccountGroup:
    view, group = await _require_group(db, caller, group_id)
    return _show_group(view, group)


async def _require_group(
    db: AsyncConnection, caller: Caller, group_id: str
) -> tuple[PortalView, StoredGroup]:
    view = await load_view(db, caller)
    require_unfiltered(view)
    found = await records.list_groups(db, view.scope, group_id)
    if not found:
        raise not_found()
    return view, found[0]


def _require_visible(view: PortalView, company_id: str, customer_ids: Sequence[str]) -> None:
    if not set(customer_ids) <= view.list_accounts_of(company_id):
        refuse_if([Violation("customer_ids", "accounts of the company")])


async def _require_free_name(
    db: AsyncConnection, view: PortalView, company_id: str, name: str
) -> None:
    if await records.find_group_by_name(db, view.scope, company_id, name) is not None:
        raise Conflict(
            "account_group_name_taken",
            "The company already has an account group with this name. Choose another name.",
        )
