"""HTTP routes of billing groups; paths are relative to /m/core."""

from typing import Any, Literal

from litestar import Request
from litestar.params import FromPath, FromQuery, JSONBody
from msgspec.structs import replace

from nimbill.access.gate import Audience, Changes, Unaudited
from nimbill.access.role_actions import RoleAction
from nimbill.customers.billing_groups import (
    csv_import,
    free_format_records,
    operations,
    records,
)
from nimbill.customers.billing_groups.bodies import (
    BillingGroupCreate,
    BillingGroupCreated,
    BillingGroupRecord,
    BillingGroupsCreated,
    BillingGroupUpdate,
    FreeFormatUpdate,
    InvoiceSettingUpdate,
    InvoiceTemplateLink,
)
from nimbill.customers.billing_groups.operations import build_group_version, load_group_version
from nimbill.database.list_query import ListQuery, is_last_page
from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.errors import not_found
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
    delete,
    describe_actor,
    get,
    post,
)
from nimbill.http.versions import WithEtags

GroupSort = Literal[
    "billinggroup_id",
    "-billinggroup_id",
    "billinggroup_name",
    "-billinggroup_name",
    "name",
    "-name",
    "project_code",
    "-project_code",
]
READ: dict[str, Any] = {
    "audiences": [Audience.core],
    "role_actions": [RoleAction.ReadBillingGroup, RoleAction.ModifyBillingGroup],
    "basis": chosen("billing-group-paths"),
}
MODIFY_ONE: dict[str, Any] = {
    "audiences": [Audience.core],
    "role_actions": [RoleAction.ModifyBillingGroup],
    "basis": chosen("billing-group-paths"),
    "changes": Changes.billing_groups,
    "versioned": load_group_version,
}


@post(
    "/billinggroup",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyBillingGroup],
    basis=stated("Billing groups"),
    audited="billinggroup/{company_id}",
    changes=Changes.shared_records,
)
async def create_billing_group(
    data: JSONBody[BillingGroupCreate], caller: RequestCaller, db: Transaction
) -> BillingGroupCreated:
    """Create a billing group with its invoice settings."""
    company_id = await operations.create_billing_group(db, caller.scope, data)
    return BillingGroupCreated(company_id=company_id, billinggroup_id=data.billinggroup_id)


@post(
    "/billinggroup/csv",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyBillingGroup],
    basis=chosen("csv-imports"),
    changes=Changes.shared_records,
    audited=Unaudited("each created group has its own audit entry"),
    reads={CSV_TYPE: str},
    request_max_body_size=CSV_BYTES_MAX,
)
async def create_billing_groups_from_csv(
    request: Request[Any, Any, Any], caller: RequestCaller, db: Transaction
) -> BillingGroupsCreated:
    """Create billing groups from a CSV file: all of its lines, or none."""
    content = await read_csv_request(request)
    actor = describe_actor(request, caller)
    created = await csv_import.create_billing_groups_from_csv(
        db, caller.scope, content, actor=actor
    )
    return BillingGroupsCreated(created=created)


@get("/billinggroup", **READ, counted=True)
async def list_billing_groups(
    caller: RequestCaller,
    db: Transaction,
    report_total: ReportTotal,
    limit: Limit = None,
    offset: Offset = 0,
    search: Search = None,
    sort: FromQuery[GroupSort | None] = None,
    etags: WithEtags = False,
) -> list[BillingGroupRecord]:
    """List the billing groups that the caller may see, ordered by billinggroup_id.

    `search` looks in company_id, billinggroup_id, billinggroup_name and name.
    """
    query = ListQuery(limit, offset, search, sort)
    groups = await records.list_billing_groups(db, caller.scope, query)
    report_total(
        offset + len(groups)
        if is_last_page(query, len(groups))
        else await records.count_billing_groups(db, caller.scope, query)
    )
    if not etags:
        return groups
    return [replace(group, etag=build_group_version(group).etag) for group in groups]


@get(
    "/billinggroup/{company_id:str}/resource",
    **READ,
    versioned=load_group_version,
    version_of=build_group_version,
)
async def list_billing_group_details(
    company_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> BillingGroupRecord:
    """Show one billing group, found by its internal company_id."""
    record = await records.find_billing_group(db, caller.scope, company_id)
    if record is None:
        raise not_found()
    return record


@post("/billinggroup/{company_id:str}", **MODIFY_ONE, audited="billinggroup/{company_id}")
async def update_billing_group(
    company_id: FromPath[str],
    data: JSONBody[BillingGroupUpdate],
    caller: RequestCaller,
    db: Transaction,
) -> Success:
    """Change a billing group. Fields that are not sent keep their value."""
    await operations.update_billing_group(db, caller.scope, company_id, data)
    return Success()


@post(
    "/billinggroup/{company_id:str}/invoices",
    **MODIFY_ONE,
    audited="billinggroup/{company_id}/invoices/{vendor}",
)
async def update_invoice_setting(
    company_id: FromPath[str],
    data: JSONBody[InvoiceSettingUpdate],
    caller: RequestCaller,
    db: Transaction,
) -> Success:
    """Add or replace the invoice setting of one vendor."""
    await operations.update_invoice_setting(db, caller.scope, company_id, data)
    return Success()


@post(
    "/billinggroup/{company_id:str}/freeformat/{vendor:str}",
    **MODIFY_ONE,
    audited="billinggroup/{company_id}/freeformat/{vendor}",
)
async def update_free_format(
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    data: JSONBody[FreeFormatUpdate],
    caller: RequestCaller,
    db: Transaction,
) -> Success:
    """Replace the free format items of one vendor."""
    await operations.require_billing_group(db, caller.scope, company_id)
    await free_format_records.replace_free_format_items(
        db, caller.scope, company_id, vendor, data.additional_items
    )
    return Success()


@delete(
    "/billinggroup/{company_id:str}/freeformat",
    **MODIFY_ONE,
    audited="billinggroup/{company_id}/freeformat",
)
async def delete_free_format(
    company_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> Success:
    """Delete the free format items of all vendors."""
    await operations.require_billing_group(db, caller.scope, company_id)
    await free_format_records.delete_free_format_items(db, caller.scope, company_id)
    return Success()


@delete(
    "/billinggroup/{company_id:str}/freeformat/{vendor:str}",
    **MODIFY_ONE,
    audited="billinggroup/{company_id}/freeformat/{vendor}",
)
async def delete_free_format_of_vendor(
    company_id: FromPath[str],
    vendor: FromPath[BilledVendor],
    caller: RequestCaller,
    db: Transaction,
) -> Success:
    """Delete the free format items of one vendor."""
    await operations.require_billing_group(db, caller.scope, company_id)
    await free_format_records.delete_free_format_items(db, caller.scope, company_id, vendor)
    return Success()


@post(
    "/billinggroup/{company_id:str}/invoicetemplate",
    **MODIFY_ONE,
    audited="billinggroup/{company_id}/invoicetemplate",
)
async def update_invoice_template_of_group(
    company_id: FromPath[str],
    data: JSONBody[InvoiceTemplateLink],
    caller: RequestCaller,
    db: Transaction,
) -> Success:
    """Link an invoice template to the billing group; null unlinks it."""
    await operations.link_invoice_template(db, caller.scope, company_id, data.invoice_template_id)
    return Success()


@delete("/billinggroup/{company_id:str}", **MODIFY_ONE, audited="billinggroup/{company_id}")
async def delete_billing_group(
    company_id: FromPath[str], caller: RequestCaller, db: Transaction
) -> Success:
    """Delete a billing group without accounts, resellers and invoices."""
    await operations.delete_billing_group(db, caller.scope, company_id)
    return Success()


ROUTES = [
    create_billing_group,
    create_billing_groups_from_csv,
    list_billing_groups,
    list_billing_group_details,
    update_billing_group,
    update_invoice_setting,
    update_free_format,
    delete_free_format,
    delete_free_format_of_vendor,
    update_invoice_template_of_group,
    delete_billing_group,
]
