"""Access control over HTTP; paths are relative to /m/auth/rbac."""

from litestar.params import FromPath, FromQuery, JSONBody

from nimbill.access.gate import Audience
from nimbill.access.role_actions import ANY_CALLER, OFFERED, RoleAction
from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.vocabulary import Product
from nimbill.http.request_bodies import Success
from nimbill.http.routing import CallerOfRequest, Transaction, delete, get, patch, post
from nimbill.identity.rbac import operations, records
from nimbill.identity.rbac.bodies import (
    Namespace,
    PermissionListing,
    Role,
    RoleCreate,
    RoleMapping,
    RolesMap,
    RolesMapped,
    RolesReplace,
    RoleUpdate,
)
from nimbill.identity.users.operations import user_named

BOTH = [Audience.core, Audience.portal]
READ_ROLES = [RoleAction.ReadRoles, RoleAction.ModifyRoles]


@get(
    "/permissions",
    audiences=BOTH,
    role_actions=ANY_CALLER,
    basis=stated("Access control (base {rbac_url})"),
)
async def list_permissions() -> list[PermissionListing]:
    """The permissions each namespace offers."""
    return [
        PermissionListing(
            namespace=namespace,
            permissions=[action.value for action in OFFERED[Product(namespace)]],
        )
        for namespace in (Namespace.portal, Namespace.core)
    ]


@post(
    "/roles",
    audiences=BOTH,
    role_actions=[RoleAction.ModifyRoles],
    basis=chosen("rbac-paths"),
    audited="role/{namespace}/{name}",
)
async def create_role(data: JSONBody[RoleCreate], caller: CallerOfRequest, db: Transaction) -> Role:
    """Create a role for all subusers of the root user."""
    return await operations.create_role(db, caller, data)


@get("/roles", audiences=BOTH, role_actions=READ_ROLES, basis=chosen("rbac-paths"))
async def list_roles(
    caller: CallerOfRequest, db: Transaction, namespace: FromQuery[Namespace | None] = None
) -> list[Role]:
    """All roles, or those of one namespace."""
    rows = await records.list_roles(db, caller.scope, caller.root_user, namespace)
    return [
        Role(name=row.name, namespace=Namespace(row.namespace), permissions=row.permissions)
        for row in rows
    ]


@patch(
    "/roles/{namespace:str}/{rolename:str}",
    audiences=BOTH,
    role_actions=[RoleAction.ModifyRoles],
    basis=chosen("rbac-paths"),
    audited="role/{namespace}/{rolename}",
)
async def update_role(
    namespace: FromPath[str],
    rolename: FromPath[str],
    data: JSONBody[RoleUpdate],
    caller: CallerOfRequest,
    db: Transaction,
) -> Role:
    """Rename a role or change what it permits; a new name follows into the mappings."""
    return await operations.update_role(db, caller, namespace, rolename, data)


@delete(
    "/roles/{namespace:str}/{rolename:str}",
    audiences=BOTH,
    role_actions=[RoleAction.ModifyRoles],
    basis=chosen("rbac-paths"),
    audited="role/{namespace}/{rolename}",
)
async def delete_role(
    namespace: FromPath[str], rolename: FromPath[str], caller: CallerOfRequest, db: Transaction
) -> Success:
    """Delete a role and all its mappings."""
    await operations.delete_role(db, caller, namespace, rolename)
    return Success()


@post(
    "/userroles",
    audiences=BOTH,
    role_actions=[RoleAction.ModifyRoles],
    basis=chosen("role-mappings"),
    audited="userroles/{user_id}",
)
async def map_roles(
    data: JSONBody[RolesMap], caller: CallerOfRequest, db: Transaction
) -> RolesMapped:
    """Add roles and filtering rules to a subuser."""
    return await operations.map_roles(db, caller, data)


@get("/userroles", audiences=BOTH, role_actions=ANY_CALLER, basis=chosen("role-mappings"))
async def list_own_mappings(caller: CallerOfRequest, db: Transaction) -> list[RoleMapping]:
    """The roles and filtering rules attached to the caller."""
    user = await user_named(db, caller, caller.user_id)
    return await operations.mappings_of(db, caller, user)


@get(
    "/{subuser:str}/userroles",
    audiences=BOTH,
    role_actions=READ_ROLES,
    oneself="subuser",
    basis=chosen("role-mappings"),
)
async def list_mappings_of_subuser(
    subuser: FromPath[str], caller: CallerOfRequest, db: Transaction
) -> list[RoleMapping]:
    """The roles and filtering rules attached to a subuser, by its name."""
    return await operations.mappings_of(db, caller, await user_named(db, caller, subuser))


@get(
    "/{subuser:str}/permissions",
    audiences=BOTH,
    role_actions=READ_ROLES,
    oneself="subuser",
    basis=chosen("role-mappings"),
)
async def list_permissions_of_subuser(
    subuser: FromPath[str], caller: CallerOfRequest, db: Transaction
) -> list[PermissionListing]:
    """All permissions of all roles attached to a subuser, by its name."""
    return await operations.permissions_of(db, caller, await user_named(db, caller, subuser))


@patch(
    "/{subuser:str}/userroles",
    audiences=BOTH,
    role_actions=[RoleAction.ModifyRoles],
    basis=chosen("role-mappings"),
    audited="userroles/{subuser}",
)
async def replace_mappings(
    subuser: FromPath[str], data: JSONBody[RolesReplace], caller: CallerOfRequest, db: Transaction
) -> RolesMapped:
    """Replace all roles of a subuser, by its id."""
    return await operations.replace_mappings(db, caller, subuser, data)


ROUTES = [
    list_permissions,
    create_role,
    list_roles,
    update_role,
    delete_role,
    map_roles,
    list_own_mappings,
    list_mappings_of_subuser,
    list_permissions_of_subuser,
    replace_mappings,
]
