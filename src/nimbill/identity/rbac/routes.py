"""HTTP routes of access control; paths are relative to /m/auth/rbac."""

from typing import Any

from litestar import Request
from litestar.params import FromPath, FromQuery, JSONBody
from msgspec import UNSET

from nimbill.access.gate import Audience, Changes
from nimbill.access.request_context import get_request_context
from nimbill.access.role_actions import ANY_CALLER, PERMISSIONS_BY_PRODUCT, RoleAction
from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.product import Product
from nimbill.http.request_bodies import Success
from nimbill.http.routing import (
    RequestCaller,
    Transaction,
    WorkerResources,
    delete,
    get,
    patch,
    post,
)
from nimbill.http.versions import WithEtags
from nimbill.identity.rbac import operations, records
from nimbill.identity.rbac.bodies import (
    EffectiveAccess,
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
from nimbill.identity.rbac.effective_access import load_effective_access
from nimbill.identity.rbac.operations import build_role_version, load_role_version
from nimbill.identity.users.operations import require_user

PRODUCTS = [Audience.core, Audience.portal]
READ_ROLES = [RoleAction.ReadRoles, RoleAction.ModifyRoles]


@get(
    "/permissions",
    audiences=PRODUCTS,
    role_actions=ANY_CALLER,
    basis=stated("Access control"),
)
async def list_permissions() -> list[PermissionListing]:
    """List the permissions that each namespace offers."""
    return [
        PermissionListing(
            namespace=namespace,
            permissions=[action.value for action in PERMISSIONS_BY_PRODUCT[Product(namespace)]],
        )
        for namespace in (Namespace.portal, Namespace.core)
    ]


@post(
    "/roles",
    audiences=PRODUCTS,
    role_actions=[RoleAction.ModifyRoles],
    basis=chosen("role-paths"),
    audited="role/{namespace}/{name}",
    changes=Changes.users,
)
async def create_role(data: JSONBody[RoleCreate], caller: RequestCaller, db: Transaction) -> Role:
    """Create a role for all subusers of the root user."""
    return await operations.create_role(db, caller, data)


@get("/roles", audiences=PRODUCTS, role_actions=READ_ROLES, basis=chosen("role-paths"))
async def list_roles(
    caller: RequestCaller,
    db: Transaction,
    namespace: FromQuery[Namespace | None] = None,
    etags: WithEtags = False,
) -> list[Role]:
    """List all roles, or those of one namespace."""
    rows = await records.list_roles(db, caller.scope, caller.root_user, namespace)
    return [
        Role(
            name=row.name,
            namespace=Namespace(row.namespace),
            permissions=row.permissions,
            etag=build_role_version(row).etag if etags else UNSET,
        )
        for row in rows
    ]


@patch(
    "/roles/{namespace:str}/{rolename:str}",
    audiences=PRODUCTS,
    role_actions=[RoleAction.ModifyRoles],
    basis=chosen("role-paths"),
    versioned=load_role_version,
    audited="role/{namespace}/{rolename}",
    changes=Changes.users,
)
async def update_role(
    namespace: FromPath[str],
    rolename: FromPath[str],
    data: JSONBody[RoleUpdate],
    caller: RequestCaller,
    db: Transaction,
) -> Role:
    """Rename a role or change its permissions. Mappings follow a new name."""
    return await operations.update_role(db, caller, namespace, rolename, data)


@delete(
    "/roles/{namespace:str}/{rolename:str}",
    audiences=PRODUCTS,
    role_actions=[RoleAction.ModifyRoles],
    basis=chosen("role-paths"),
    versioned=load_role_version,
    audited="role/{namespace}/{rolename}",
    changes=Changes.users,
)
async def delete_role(
    namespace: FromPath[str], rolename: FromPath[str], caller: RequestCaller, db: Transaction
) -> Success:
    """Delete a role and all its mappings."""
    await operations.delete_role(db, caller, namespace, rolename)
    return Success()


@post(
    "/userroles",
    audiences=PRODUCTS,
    role_actions=[RoleAction.ModifyRoles],
    basis=chosen("role-mappings"),
    audited="userroles/{user_id}",
    changes=Changes.users,
)
async def map_roles(
    data: JSONBody[RolesMap],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
    request: Request[Any, Any, Any],
) -> RolesMapped:
    """Add roles and filtering rules to a subuser, named by its id or its name."""
    body = await operations.replace_name_by_id(db, caller, data)
    get_request_context(request.scope).body = body  # the audit row names the user by its id
    return await operations.map_roles(db, caller, body, resources.hooks.find_company_ids)


@get("/userroles", audiences=PRODUCTS, role_actions=ANY_CALLER, basis=chosen("role-mappings"))
async def list_own_mappings(caller: RequestCaller, db: Transaction) -> list[RoleMapping]:
    """List the roles and filtering rules of the caller."""
    user = await require_user(db, caller, caller.user_id)
    return await operations.list_mappings(db, caller, user)


@get(
    "/{subuser:str}/userroles",
    audiences=PRODUCTS,
    role_actions=READ_ROLES,
    own_user_parameter="subuser",
    basis=chosen("role-mappings"),
)
async def list_mappings_of_subuser(
    subuser: FromPath[str], caller: RequestCaller, db: Transaction
) -> list[RoleMapping]:
    """List the roles and filtering rules of a subuser, found by its name."""
    return await operations.list_mappings(db, caller, await require_user(db, caller, subuser))


@get(
    "/{subuser:str}/permissions",
    audiences=PRODUCTS,
    role_actions=READ_ROLES,
    own_user_parameter="subuser",
    basis=chosen("role-mappings"),
)
async def list_permissions_of_subuser(
    subuser: FromPath[str], caller: RequestCaller, db: Transaction
) -> list[PermissionListing]:
    """List the permissions of all roles of a subuser, found by its name."""
    return await operations.list_permissions(db, caller, await require_user(db, caller, subuser))


@get(
    "/{subuser:str}/access",
    audiences=PRODUCTS,
    role_actions=READ_ROLES,
    own_user_parameter="subuser",
    basis=chosen("effective-access"),
)
async def read_access_of_subuser(
    subuser: FromPath[str],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> EffectiveAccess:
    """Show what a person may do and which billing groups they see, found by name or id.

    `permissions` lists single role actions, also for Admin and the root user.
    """
    user = await require_user(db, caller, subuser)
    return await load_effective_access(db, caller, user, resources.hooks.list_group_names)


@patch(
    "/{subuser:str}/userroles",
    audiences=PRODUCTS,
    role_actions=[RoleAction.ModifyRoles],
    basis=chosen("role-mappings"),
    audited="userroles/{subuser}",
    changes=Changes.users,
)
async def replace_mappings(
    subuser: FromPath[str],
    data: JSONBody[RolesReplace],
    caller: RequestCaller,
    db: Transaction,
    resources: WorkerResources,
) -> RolesMapped:
    """Replace all roles of a subuser, found by its id."""
    return await operations.replace_mappings(
        db, caller, subuser, data, resources.hooks.find_company_ids
    )


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
    read_access_of_subuser,
    replace_mappings,
]
