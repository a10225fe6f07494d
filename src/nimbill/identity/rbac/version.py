"""The version of a role."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.database.tenant_scope import Row
from nimbill.http.versions import ObjectVersion
from nimbill.identity.rbac import records

# See docs/choices.md, object-versions.


def build_role_version(row: Row) -> ObjectVersion:
    values = [row.namespace, row.name, list(row.permissions)]
    return ObjectVersion(values, f"role/{row.namespace}/{row.name}")


async def load_role_version(
    db: AsyncConnection, caller: Caller, path: Mapping[str, Any], lock: bool
) -> ObjectVersion | None:
    key = (path["namespace"], path["rolename"])
    row = await records.find_role(db, caller.scope, caller.root_user, key, lock=lock)
    return None if row is None else build_role_version(row)
