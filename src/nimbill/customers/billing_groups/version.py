"""The version of a billing group: its own fields, invoice settings and free format items."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.customers.billing_groups import records
from nimbill.customers.billing_groups.bodies import BillingGroupRecord
from nimbill.http.versions import ObjectVersion

# See docs/choices.md, object-versions.

# Fields that belong to accounts and projects, which are edited elsewhere, or that are constant.
NOT_EDITED = {
    "account",
    "custom_fields",
    "etag",
    "project_code",
    "project_currency",
    "project_label",
    "tag",
}
EDITED = [name for name in BillingGroupRecord.__struct_fields__ if name not in NOT_EDITED]


def build_group_version(group: BillingGroupRecord) -> ObjectVersion:
    values = {name: getattr(group, name) for name in EDITED}
    return ObjectVersion(values, f"billinggroup/{group.company_id}")


async def load_group_version(
    db: AsyncConnection, caller: Caller, path: Mapping[str, Any], lock: bool
) -> ObjectVersion | None:
    if lock:
        await records.lock_billing_group(db, caller.scope, path["company_id"])
    group = await records.find_billing_group(db, caller.scope, path["company_id"])
    return None if group is None else build_group_version(group)
