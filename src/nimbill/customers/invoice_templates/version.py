"""The version of an invoice template."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.customers.invoice_templates import records
from nimbill.database.tenant_scope import Row
from nimbill.http.versions import ObjectVersion

# See docs/choices.md, object-versions.


def build_template_version(row: Row) -> ObjectVersion:
    values = [row.invoice_template_id, sorted(row.content.items())]
    return ObjectVersion(values, f"invoicetemplate/{row.invoice_template_id}")


async def load_template_version(
    db: AsyncConnection, caller: Caller, path: Mapping[str, Any], lock: bool
) -> ObjectVersion | None:
    template_id = path["invoice_template_id"]
    row = await records.find_invoice_template(db, caller.scope, template_id, lock=lock)
    return None if row is None else build_template_version(row)
