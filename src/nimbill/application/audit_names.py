"""The names of the billing groups and users that one page of the audit log is about."""

from collections.abc import Sequence

from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.hooks import ListGroupNames
from nimbill.application.audit_bodies import AuditEntry
from nimbill.database.tenant_scope import TenantScope
from nimbill.identity.users.records import load_usernames

# See docs/choices.md, list-details.

_RESOURCES_OF_USERS = ("user", "userroles")


async def add_names(
    db: AsyncConnection,
    scope: TenantScope,
    entries: Sequence[AuditEntry],
    list_group_names: ListGroupNames,
) -> list[AuditEntry]:
    company_ids = {entry.company_id for entry in entries if entry.company_id is not None}
    groups = {
        group.company_id: group.billinggroup_name
        for group in await list_group_names(db, scope, company_ids)
    }
    user_ids = {find_user_id(entry.resource) for entry in entries}
    usernames = await load_usernames(db, scope, user_ids)
    return [
        replace(
            entry,
            billinggroup_name=groups.get(entry.company_id or ""),
            object_username=usernames.get(find_user_id(entry.resource)),
        )
        for entry in entries
    ]


def find_user_id(resource: str) -> str:
    """Read `user/{id}` and its parts; empty if the resource is no user."""
    kind, _, rest = resource.partition("/")
    return rest.partition("/")[0] if kind in _RESOURCES_OF_USERS else ""
