"""Roles, and the users who have them."""

from collections.abc import Sequence

from nimbill_client.bodies import (
    FilteringRule,
    PermissionListing,
    Role,
    RoleMapping,
    RoleReference,
    RolesMapped,
    Success,
)
from nimbill_client.connection import Call, Connection

PATH = "/m/auth/rbac/roles"
MAPPINGS = "/m/auth/rbac/userroles"
ROLE_PATH = "/m/auth/rbac/roles/{namespace}/{rolename}"
USER_MAPPINGS = "/m/auth/rbac/{subuser}/userroles"


class Roles:
    """The namespace is `core` or `portal`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list_all(self, namespace: str | None = None) -> list[Role]:
        call = Call(method="GET", path=PATH, query={"namespace": namespace})
        return self._connection.fetch(list[Role], call)

    def create(self, role: Role, *, key: str | None = None) -> Role:
        return self._connection.fetch(Role, Call(method="POST", path=PATH, body=role, key=key))

    def update(
        self,
        namespace: str,
        name: str,
        *,
        new_name: str | None = None,
        permissions: Sequence[str] | None = None,
        key: str | None = None,
    ) -> Role:
        changes = {"name": new_name, "permissions": permissions}
        call = Call(
            method="PATCH",
            path=ROLE_PATH,
            ids={"namespace": namespace, "rolename": name},
            body={field: value for field, value in changes.items() if value is not None},
            key=key,
        )
        return self._connection.fetch(Role, call)

    def delete(self, namespace: str, name: str, *, key: str | None = None) -> None:
        ids = {"namespace": namespace, "rolename": name}
        self._connection.fetch(Success, Call(method="DELETE", path=ROLE_PATH, ids=ids, key=key))

    def list_permissions(self, user_id: str | None = None) -> list[PermissionListing]:
        """List the permissions of a subuser, or your own."""
        path, ids = "/m/auth/rbac/permissions", {}
        if user_id is not None:
            path, ids = "/m/auth/rbac/{subuser}/permissions", {"subuser": user_id}
        call = Call(method="GET", path=path, ids=ids)
        return self._connection.fetch(list[PermissionListing], call)

    def list_mappings(self, user_id: str | None = None) -> list[RoleMapping]:
        """List the roles and filters of a subuser, or your own."""
        path, ids = MAPPINGS, {}
        if user_id is not None:
            path, ids = USER_MAPPINGS, {"subuser": user_id}
        return self._connection.fetch(list[RoleMapping], Call(method="GET", path=path, ids=ids))

    def give(
        self,
        user_id: str,
        roles: Sequence[RoleReference],
        filters: Sequence[FilteringRule] = (),
        *,
        key: str | None = None,
    ) -> RolesMapped:
        """Give a subuser more roles; filters restrict them to certain billing groups."""
        body = {"user_id": user_id, "roles": roles, "filters": filters}
        call = Call(method="POST", path=MAPPINGS, body=body, key=key)
        return self._connection.fetch(RolesMapped, call)

    def replace(
        self,
        user_id: str,
        roles: Sequence[RoleReference],
        filters: Sequence[FilteringRule] = (),
        *,
        key: str | None = None,
    ) -> RolesMapped:
        """Replace all roles and filters of a subuser."""
        call = Call(
            method="PATCH",
            path=USER_MAPPINGS,
            ids={"subuser": user_id},
            body={"roles": roles, "filters": filters},
            key=key,
        )
        return self._connection.fetch(RolesMapped, call)
