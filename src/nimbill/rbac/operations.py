"""What may be done with roles and mappings: the checks in order, then the change."""

from collections.abc import Mapping, Sequence

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.holdings import FilterKey, Holdings, filters_of, holdings_of
from nimbill.errors import Conflict, NotPermitted, Violation, not_found, refuse_if
from nimbill.rbac import records
from nimbill.rbac.bodies import (
    FilteringRule,
    Namespace,
    PermissionListing,
    Role,
    RoleCreate,
    RoleMapping,
    RoleReference,
    RolesMap,
    RolesMapped,
    RolesReplace,
    RoleUpdate,
)
from nimbill.rbac.records import RoleKey
from nimbill.rbac.role_rules import (
    ROLES_PER_NAMESPACE_MAX,
    admin_alone,
    filter_type_violations,
    permission_violations,
)
from nimbill.storage import Row
from nimbill.users import records as users
from nimbill.users.operations import holdings_of_caller, holdings_of_user
from nimbill.vocabulary import Product

Filters = Mapping[FilterKey, frozenset[str]]


async def create_role(db: AsyncConnection, caller: Caller, body: RoleCreate) -> Role:
    """Roles belong to the root user, whoever makes them; nobody grants more than he holds."""
    key = (body.namespace.value, body.name)
    refuse_if(list(permission_violations(Product(body.namespace), body.permissions)))
    permissions = admin_alone(body.permissions)
    _refuse_to_grant(await holdings_of_caller(db, caller), body.namespace, permissions)
    if await records.find_role(db, caller.scope, caller.root_user, key) is not None:
        raise Conflict("role_name_taken", "this namespace has a role of this name")
    await records.add_role(db, caller.scope, caller.root_user, key, permissions)
    return Role(name=body.name, namespace=body.namespace, permissions=permissions)


async def update_role(
    db: AsyncConnection, caller: Caller, namespace: str, rolename: str, body: RoleUpdate
) -> Role:
    """A new name follows into the mappings; what the role grants afterwards must be one's own."""
    role = await records.find_role(db, caller.scope, caller.root_user, (namespace, rolename))
    if role is None:
        raise not_found()
    sent = role.permissions if body.permissions is None else body.permissions
    refuse_if(list(permission_violations(Product(role.namespace), sent)))
    permissions, name = admin_alone(sent), body.name or role.name
    if body.permissions is not None:
        _refuse_to_grant(await holdings_of_caller(db, caller), namespace, permissions)
    renamed = (namespace, name)
    if name != rolename and await records.find_role(db, caller.scope, caller.root_user, renamed):
        raise Conflict("role_name_taken", "this namespace has a role of this name")
    await records.change_role(
        db,
        caller.scope,
        caller.root_user,
        (namespace, rolename),
        name=name,
        permissions=permissions,
    )
    return Role(name=name, namespace=Namespace(namespace), permissions=permissions)


async def delete_role(db: AsyncConnection, caller: Caller, namespace: str, rolename: str) -> None:
    key = (namespace, rolename)
    if not await records.delete_role(db, caller.scope, caller.root_user, key):
        raise not_found()


def _refuse_to_grant(mine: Holdings, namespace: str, permissions: Sequence[str]) -> None:
    if not mine.allow(namespace, frozenset(permissions)):
        raise NotPermitted("grants_more", "nobody grants more than he holds")


async def map_roles(db: AsyncConnection, caller: Caller, body: RolesMap) -> RolesMapped:
    """Adds roles and filters to a subuser: all of them, or none."""
    user = await users.find_user(db, caller.scope, body.user_id)
    if user is None or user.user_id == user.root_user or user.root_user != caller.root_user:
        refuse_if([Violation("user_id", "an existing subuser")])
        raise AssertionError("refuse_if raises")
    await records.lock_mappings(db, caller.scope, user.user_id)
    before = await records.mapped_roles(db, caller.scope, user.user_id)
    return await _map(db, caller, user, [*before, *_keys(body.roles)], body)


async def replace_mappings(
    db: AsyncConnection, caller: Caller, user_id: str, body: RolesReplace
) -> RolesMapped:
    """The subuser's roles become these; filters absent are kept, [] clears them."""
    user = await users.find_user(db, caller.scope, user_id)
    if user is None or user.user_id == user.root_user or user.root_user != caller.root_user:
        raise not_found()
    await records.lock_mappings(db, caller.scope, user_id)
    await records.unmap_all_roles(db, caller.scope, user_id)
    if body.filters is not None:
        await records.clear_filters(db, caller.scope, user_id)
    return await _map(db, caller, user, _keys(body.roles), body)


async def _map(
    db: AsyncConnection,
    caller: Caller,
    user: Row,
    afterwards: Sequence[RoleKey],
    body: RolesMap | RolesReplace,
) -> RolesMapped:
    mine = await holdings_of_caller(db, caller)
    await _refuse_unsound_roles(db, caller, afterwards, body)
    keys = list(dict.fromkeys(_keys(body.roles)))
    await records.map_roles(
        db, caller.scope, root_user=caller.root_user, user_id=user.user_id, keys=keys
    )
    rules = [(f.namespace.value, f.type, one) for f in body.filters or [] for one in f.resource]
    await records.add_filters(db, caller.scope, user.user_id, rules)
    await _refuse_to_map_more(db, caller, mine, user, keys)
    filters = await filters_of(db, caller.scope, user.user_id)
    return RolesMapped(success=[name for _, name in keys], failed=[], filters=_rules(filters))


async def _refuse_unsound_roles(
    db: AsyncConnection,
    caller: Caller,
    afterwards: Sequence[RoleKey],
    body: RolesMap | RolesReplace,
) -> None:
    known = await records.list_roles(db, caller.scope, caller.root_user, None)
    existing = {(row.namespace, row.name) for row in known}
    broken = [
        Violation(f"roles[{index}].role", "an existing role")
        for index, key in enumerate(_keys(body.roles))
        if key not in existing
    ]
    for index, rule in enumerate(body.filters or []):
        broken += filter_type_violations(rule.namespace, rule.type, index)
    for namespace in Namespace:
        mapped = {key for key in afterwards if key[0] == namespace}
        if len(mapped) > ROLES_PER_NAMESPACE_MAX:
            rule_text = f"at most {ROLES_PER_NAMESPACE_MAX} roles in a namespace"
            broken.append(Violation("roles", rule_text))
    refuse_if(broken)


async def _refuse_to_map_more(
    db: AsyncConnection, caller: Caller, mine: Holdings, user: Row, keys: Sequence[RoleKey]
) -> None:
    """What is mapped must be held, and the user must end up inside the mapper's own filters."""
    theirs = await holdings_of(db, caller.scope, user.user_id)
    for namespace, name in keys:
        role = await records.find_role(db, caller.scope, caller.root_user, (namespace, name))
        if role is None or not mine.allow(namespace, frozenset(role.permissions)):
            raise NotPermitted("maps_more", "nobody maps more than he holds")
    if not all(mine.reach(namespace, theirs.filters) for namespace in theirs.permissions):
        raise NotPermitted("maps_more", "who is filtered maps inside his own filters")


def _keys(references: Sequence[RoleReference]) -> list[RoleKey]:
    return [(reference.namespace.value, reference.role) for reference in references]


def _rules(filters: Filters) -> list[FilteringRule]:
    return [
        FilteringRule(namespace=Namespace(namespace), type=type_, resource=sorted(resources))
        for (namespace, type_), resources in sorted(filters.items())
    ]


async def mappings_of(db: AsyncConnection, caller: Caller, user: Row) -> list[RoleMapping]:
    """Every role and every filter attached to a user, one by one."""
    roles = await records.mapped_roles(db, caller.scope, user.user_id)
    filters = await filters_of(db, caller.scope, user.user_id)
    mapped = [
        RoleMapping(
            root_user=user.root_user, sub_user=user.user_id, namespace=Namespace(ns), role=role
        )
        for ns, role in roles
    ]
    return mapped + [
        RoleMapping(
            root_user=user.root_user,
            sub_user=user.user_id,
            namespace=Namespace(ns),
            filter=f"{type_}:{resource}",
        )
        for (ns, type_), resources in sorted(filters.items())
        for resource in sorted(resources)
    ]


async def permissions_of(db: AsyncConnection, caller: Caller, user: Row) -> list[PermissionListing]:
    """All permissions of all roles of a user; the root user holds Admin everywhere."""
    theirs = await holdings_of_user(db, caller.scope, user)
    held = {"Admin"} if theirs.is_root else None
    return [
        PermissionListing(
            namespace=namespace,
            permissions=sorted(held or theirs.permissions.get(namespace.value, frozenset())),
        )
        for namespace in (Namespace.portal, Namespace.core)
    ]
