"""The version of a cloud account."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.customers.cloud_accounts import records
from nimbill.customers.cloud_accounts.bodies import CloudAccountRecord
from nimbill.http.versions import ObjectVersion

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
