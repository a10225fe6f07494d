"""Billing groups over HTTP; paths are relative to /m/core."""

from litestar.params import FromPath, JSONBody

from nimbill.access.guards import Audience
from nimbill.access.role_actions import RoleAction
from nimbill.basis import chosen, stated
from nimbill.billing_groups import operations, records
from nimbill.billing_groups.bodies import (
    BillingGroupCreate,
    BillingGroupCreated,
    BillingGroupRecord,
)
from nimbill.errors import not_found
from nimbill.web import CallerOfRequest, Transaction, get, post


@post(
    "/billinggroup",
    audiences=[Audience.core],
    role_actions=[RoleAction.ModifyBillingGroup],
    basis=stated("Billing groups"),
    audited="billinggroup/{company_id}",
)
async def create_billing_group(
    data: JSONBody[BillingGroupCreate], caller: CallerOfRequest, db: Transaction
) -> BillingGroupCreated:
    """Create a billing group with its invoice settings."""
    company_id = await operations.create_billing_group(db, caller.scope, data)
    return BillingGroupCreated(company_id=company_id, billinggroup_id=data.billinggroup_id)


@get(
    "/billinggroup",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadBillingGroup, RoleAction.ModifyBillingGroup],
    basis=chosen("billing-group-paths"),
)
async def list_billing_groups(caller: CallerOfRequest, db: Transaction) -> list[BillingGroupRecord]:
    """Every billing group the caller may see, by billinggroup_id."""
    return await records.list_billing_groups(db, caller.scope)


@get(
    "/billinggroup/{company_id:str}/resource",
    audiences=[Audience.core],
    role_actions=[RoleAction.ReadBillingGroup, RoleAction.ModifyBillingGroup],
    basis=chosen("billing-group-paths"),
)
async def list_billing_group_details(
    company_id: FromPath[str], caller: CallerOfRequest, db: Transaction
) -> BillingGroupRecord:
    """One billing group, by its internal id."""
    record = await records.find_billing_group(db, caller.scope, company_id)
    if record is None:
        raise not_found()
    return record


ROUTES = [create_billing_group, list_billing_groups, list_billing_group_details]
