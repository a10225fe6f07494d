"""HTTP routes of account groups and usage by group; paths are relative to /m/portal."""

from litestar.params import FromPath, FromQuery, JSONBody

from nimbill.access.gate import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.foundation.basis import chosen
from nimbill.http.routing import (
    Limit,
    Offset,
    RequestCaller,
    Transaction,
    delete,
    get,
    post,
    put,
    select_page,
)
from nimbill.portal.groups import operations
from nimbill.portal.groups.bodies import (
    AccountGroup,
    AccountGroupChange,
    AccountGroupCreate,
    AccountGroupDeleted,
    GroupUsage,
)
from nimbill.portal.groups.group_usage import list_rows_by_group, load_group_usage
from nimbill.portal.report_parameters import CompanyId, Selection
from nimbill.portal.usage.bodies import (
    Interval,
    UsageGraph,
    list_totals,
    list_unpriced,
    list_usage_months,
)
from nimbill.portal.usage.graph_series import INTERVAL_DIMENSIONS, build_graph, choose_interval
from nimbill.portal.usage_sums import Dimension
from nimbill.portal.view import load_view


@get(
    "/groups",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadGroups],
    flag="usage_group",
    basis=chosen("account-groups"),
)
async def list_account_groups(
    caller: RequestCaller, db: Transaction, company_id: CompanyId = None
) -> list[AccountGroup]:
    """List the account groups by name, with the accounts that the caller sees."""
    return await operations.list_visible_groups(db, await load_view(db, caller, company_id))


@post(
    "/groups",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ModifyGroups],
    flag="usage_group",
    basis=chosen("account-groups"),
    audited="account_group/{group_id}",
)
async def create_account_group(
    data: JSONBody[AccountGroupCreate], caller: RequestCaller, db: Transaction
) -> AccountGroup:
    """Create a group of the company's accounts."""
    group_id = await operations.create_group(db, caller, data)
    return await operations.show_group(db, caller, group_id)


@put(
    "/groups/{group_id:str}",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ModifyGroups],
    flag="usage_group",
    basis=chosen("account-groups"),
    audited="account_group/{group_id}",
)
async def change_account_group(
    group_id: FromPath[str],
    data: JSONBody[AccountGroupChange],
    caller: RequestCaller,
    db: Transaction,
) -> AccountGroup:
    """Rename a group, or replace its accounts."""
    await operations.change_group(db, caller, group_id, data)
    return await operations.show_group(db, caller, group_id)


@delete(
    "/groups/{group_id:str}",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ModifyGroups],
    flag="usage_group",
    basis=chosen("account-groups"),
    audited="account_group/{group_id}",
)
async def delete_account_group(
    group_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> AccountGroupDeleted:
    """Delete a group. Its accounts stay."""
    return AccountGroupDeleted(company_id=await operations.delete_group(db, caller, group_id))


@get(
    "/usage/group",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadGroups],
    flag="usage_group",
    basis=chosen("account-groups"),
)
async def read_group_usage(
    caller: RequestCaller,
    db: Transaction,
    selection: Selection,
    limit: Limit = None,
    offset: Offset = 0,
) -> GroupUsage:
    """Show usage by month, account group and service."""
    months = selection.months
    view = await load_view(db, caller, selection.company_id)
    dimensions = [Dimension.month, Dimension.vendor, Dimension.service]
    usage = await load_group_usage(db, view, months, dimensions)
    rows = list_rows_by_group(usage)
    return GroupUsage(
        rows=rows[select_page(limit, offset)],
        totals=list_totals(usage.by_account),
        months=list_usage_months(usage.by_account),
        unpriced=list_unpriced(usage.by_account.unpriced),
    )


@get(
    "/usage/group/graph",
    audiences=[Audience.portal],
    role_actions=[RoleAction.ReadGroups],
    flag="usage_group_graph",
    basis=chosen("account-groups"),
)
async def read_group_graph(
    caller: RequestCaller,
    db: Transaction,
    selection: Selection,
    interval: FromQuery[Interval | None] = None,
) -> UsageGraph:
    """Show usage as one series per account group, by day or by month."""
    months = selection.months
    shown = choose_interval(interval, months)
    view = await load_view(db, caller, selection.company_id)
    usage = await load_group_usage(db, view, months, [INTERVAL_DIMENSIONS[shown]])
    return build_graph(
        usage.by_group, shown, months, lambda group_id: usage.names.get(group_id, "")
    )


ROUTES = [
    list_account_groups,
    create_account_group,
    change_account_group,
    delete_account_group,
    read_group_usage,
    read_group_graph,
]
