"""HTTP routes of cloud accounts; paths are relative to /m/core."""

from typing import Any, Literal

from litestar import Request
from litestar.params import FromPath, FromQuery, JSONBody
from msgspec.structs import replace

from nimbill.access.gate import Audience, Changes, Unaudited
from nimbill.access.role_actions import RoleAction
from nimbill.customers.cloud_accounts import csv_import, operations, records
from nimbill.customers.cloud_accounts.assign_accounts import (
    assign_accounts as assign_accounts_to_group,
)
from nimbill.customers.cloud_accounts.bodies import (
    AccountsAssign,
    AccountsAssigned,
    AccountsCreated,
    CloudAccountCreate,
    CloudAccountRecord,
    CloudAccountUpdate,
)
from nimbill.customers.cloud_accounts.operations import build_account_version, load_account_version
from nimbill.database.list_query import ListQuery
from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.vendors import BilledVendor
from nimbill.http.csv_bodies import CSV_BYTES_MAX, read_csv_request
from nimbill.http.downloads import CSV_TYPE
from nimbill.http.list_parameters import ReportTotal, Search
from nimbill.http.request_bodies import Success
from nimbill.http.routing import (
    Limit,
    Offset,
    RequestCaller,
    Transaction,
    WorkerResources,
    delete,
    describe_actor,
    get,
    post,
    put,
)
from nimbill.http.versions import WithEtags

AccountSort = Literal[
    "customer_id",
    "-customer_id",
    "customer_name",
    "-customer_name",
    "account_id",
    "-account_id",
    "billinggroup_id",
    "-billinggroup_id",
    "billinggroup_name",
    "-billinggroup_name",
]


@post(
    "/accts",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyAccount],
    basis=stated("Customer accounts"),
    audited="acct/{customer_id}",
    changes=Changes.billing_groups,
)
async def create_account(
    data: JSONBody[CloudAccountCreate],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> Success:
    """Add a customer's account at a vendor to a billing group."""
    await operations.create_account(db, caller.scope, data, resources.hooks.list_charged_accounts)
    return Success()


@post(
    "/accts/csv",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyAccount],
    basis=chosen("csv-imports"),
    changes=Changes.billing_groups,
    audited=Unaudited("each created account has its own audit entry"),
    reads={CSV_TYPE: str},
    request_max_body_size=CSV_BYTES_MAX,
)
async def create_accounts_from_csv(
    request: Request[Any, Any, Any],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> AccountsCreated:
    """Add customers' accounts from a CSV file: all of its lines, or none."""
    content = await read_csv_request(request)
    actor = describe_actor(request, caller)
    created = await csv_import.create_accounts_from_csv(
        db, caller.scope, content, resources.hooks.list_charged_accounts, actor=actor
    )
    return AccountsCreated(created=created)


@post(
    "/accts/assign",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyAccount],
    basis=chosen("bulk-assignment"),
    changes=Changes.billing_groups,
    audited=Unaudited("each assigned account has its own audit entry"),
)
async def assign_accounts(
    request: Request[Any, Any, Any],
    data: JSONBody[AccountsAssign],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> AccountsAssigned:
    """Assign many accounts to one billing group: all of them, or none.

    Registered accounts move to the group. Others are registered there, with `account_id` as payer
    and `name` or else the number as name.
    """
    actor = describe_actor(request, caller)
    return await assign_accounts_to_group(
        db, caller.scope, data, resources.hooks.list_charged_accounts, actor=actor
    )


@get(
    "/accts",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadAccount, RoleAction.ModifyAccount],
    basis=chosen("account-paths"),
    counted=True,
)
async def list_accounts(
    caller: RequestCaller,
    db: Transaction,
    report_total: ReportTotal,
    vendor: FromQuery[BilledVendor],
    limit: Limit = None,
    offset: Offset = 0,
    search: Search = None,
    sort: FromQuery[AccountSort | None] = None,
    company_id: FromQuery[str | None] = None,
    etags: WithEtags = False,
) -> list[CloudAccountRecord]:
    """List the accounts at one vendor, ordered by customer_id; with `company_id`, of one group.

    `search` looks in customer_id, customer_name and account_id.
    """
    query = ListQuery(limit, offset, search, sort)
    accounts, total = await records.list_accounts(db, caller.scope, vendor, query, company_id)
    report_total(total)
    if not etags:
        return accounts
    return [replace(account, etag=build_account_version(account).etag) for account in accounts]


@put(
    "/accts/{customer_id:str}/edit",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyAccount],
    basis=chosen("account-paths"),
    versioned=load_account_version,
    audited="acct/{customer_id}",
    changes=Changes.billing_groups,
)
async def update_account(
    customer_id: FromPath[str],
    data: JSONBody[CloudAccountUpdate],
    caller: RequestCaller,
    db: Transaction,
) -> Success:
    """Change the payer, billing group, name or note of an account."""
    await operations.update_account(db, caller.scope, customer_id, data)
    return Success()


@delete(
    "/accts/{vendor:str}/{both_ids:str}",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyAccount],
    basis=stated("Customer accounts"),
    versioned=load_account_version,
    audited="acct/{both_ids}",
    changes=Changes.billing_groups,
)
async def delete_account(
    vendor: FromPath[str], both_ids: FromPath[str], caller: RequestCaller, db: Transaction
) -> Success:
    """Delete the account `customer_id|account_id`. Existing invoices still show it."""
    await operations.delete_account(db, caller.scope, vendor, both_ids)
    return Success()


ROUTES = [
    create_account,
    create_accounts_from_csv,
    assign_accounts,
    list_accounts,
    update_account,
    delete_account,
]
