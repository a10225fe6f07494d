"""What may be done with roles and mappings: the checks in order, then the change."""

from collections.abc import Collection, Mapping, Sequence

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.effective_permissions import (
    EffectivePermissions,
    FilterKey,
    filters_of,
    load_effective_permissions,
)
from nimbill.database.tenant_scope import Row
from nimbill.foundation.errors import (
    Conflict,
    Invalid,
    NotPermitted,
    Violation,
    not_found,
    refuse_if,
)
from nimbill.foundation.vocabulary import Product
from nimbill.identity.rbac import records
from nimbill.identity.rbac.bodies import (
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
from nimbill.identity.rbac.records import RoleKey
from nimbill.identity.rbac.role_rules import (
    admin_alone,
    filter_violations,
    permission_violations,
    too_many_roles,
)
from nimbill.identity.users import records as users
from nimbill.identity.users.operations import holdings_of_caller, holdings_of_user

Filters = Mapping[FilterKey, frozenset[str]]

NO_SUBUSER = Violation("user_id", "an existing subuser")


async def create_role(db: AsyncConnection, caller: Caller, body: RoleCreate) -> Role:
    """Roles belong to the root user, whoever makes them; nobody grants more than he holds."""
    key = (body.namespace.value, body.name)
    refuse_if(list(permission_violations(Product(body.namespace), body.permissions)))
    permissions = admin_alone(body.permissions)
    _refuse_to_grant(await holdings_of_caller(db, caller), body.namespace, permissions)
    if await records.role_exists(db, caller.scope, caller.root_user, key):
        raise Conflict("role_name_taken", "this namespace has a role of this name")
    await records.add_role(db, caller.scope, caller.root_user, key, permissions)
    return Role(name=body.name, namespace=body.namespace, permissions=permissions)


async def update_role(
    db: AsyncConnection, caller: Caller, namespace: str, rolename: str, body: RoleUpdate
) -> Role:
    """A new name follows into the mappings; what the role grants afterwards must be one's own."""
    key = (namespace, rolename)
    role = await records.lock_role(db, caller.scope, caller.root_user, key)
    if role is None:
        raise not_found()
    sent = role.permissions if body.permissions is None else body.permissions
    refuse_if(list(permission_violations(Product(role.namespace), sent)))
    permissions, name = admin_alone(sent), body.name or role.name
    if body.permissions is not None:
        mine = await holdings_of_caller(db, caller)
        _refuse_to_grant(mine, namespace, permissions)
        so_far = EffectivePermissions({namespace: frozenset(role.permissions)}, {})
        if not so_far.allow(namespace, frozenset(permissions)):
            await _refuse_to_grant_beyond_filters(db, caller, mine, key)
    renamed = (namespace, name)
    if name != rolename and await records.role_exists(db, caller.scope, caller.root_user, renamed):
        raise Conflict("role_name_taken", "this namespace has a role of this name")
    await records.change_role(
        db, caller.scope, caller.root_user, key, name=name, permissions=permissions
    )
    return Role(name=name, namespace=Namespace(namespace), permissions=permissions)


async def delete_role(db: AsyncConnection, caller: Caller, namespace: str, rolename: str) -> None:
    key = (namespace, rolename)
    if not await records.delete_role(db, caller.scope, caller.root_user, key):
        raise not_found()


def _refuse_to_grant(
    mine: EffectivePermissions, namespace: str, permissions: Sequence[str]
) -> None:
    if not mine.allow(namespace, frozenset(permissions)):
        raise NotPermitted("grants_more", "nobody grants more than he holds")


async def _refuse_to_grant_beyond_filters(
    db: AsyncConnection, caller: Caller, mine: EffectivePermissions, key: RoleKey
) -> None:
    """A role that permits more from now on does so for all who have it, wherever they look."""
    for user_id in await records.users_with_role(db, caller.scope, caller.root_user, key):
        if not mine.reach(key[0], await filters_of(db, caller.scope, user_id)):
            raise NotPermitted("grants_more", "who is filtered grants inside his own filters")


async def map_roles(db: AsyncConnection, caller: Caller, body: RolesMap) -> RolesMapped:
    """Adds roles and filters to a subuser: all of them, or none."""
    user = await _lock_subuser(db, caller, body.user_id)
    if user is None:
        raise Invalid("rule_broken", "the request breaks a rule", [NO_SUBUSER])
    return await _map(db, caller, user, body, replaces=False)


async def replace_mappings(
    db: AsyncConnection, caller: Caller, user_id: str, body: RolesReplace
) -> RolesMapped:
    """The subuser's roles become these; filters absent are kept, [] clears them."""
    user = await _lock_subuser(db, caller, user_id)
    if user is None:
        raise not_found()
    return await _map(db, caller, user, body, replaces=True)


async def _lock_subuser(db: AsyncConnection, caller: Caller, user_id: str) -> Row | None:
    """Two changes of one user's mappings take turns, so that five stays five."""
    user = await users.lock_user(db, caller.scope, user_id)
    if user is None or user.root_user != caller.root_user or user.user_id == user.root_user:
        return None
    return user


async def _map(
    db: AsyncConnection,
    caller: Caller,
    user: Row,
    body: RolesMap | RolesReplace,
    *,
    replaces: bool,
) -> RolesMapped:
    """What the caller holds is asked before anything changes: he may be the user himself."""
    mine = await holdings_of_caller(db, caller)
    so_far = await load_effective_permissions(db, caller.scope, user.user_id)
    before = await records.mapped_roles(db, caller.scope, user.user_id)
    keys = list(dict.fromkeys(_keys(body.roles)))
    permitted = await records.hold_roles(db, caller.scope, caller.root_user, keys)
    _refuse_unsound(body, permitted, keys if replaces else [*before, *keys])
    _refuse_to_map_more(mine, permitted)
    if replaces:
        await records.unmap_all_roles(db, caller.scope, user.user_id)
        if body.filters is not None:
            await records.clear_filters(db, caller.scope, user.user_id)
    await records.map_roles(
        db, caller.scope, root_user=caller.root_user, user_id=user.user_id, keys=keys
    )
    rules = [(f.namespace.value, f.type, one) for f in body.filters or [] for one in f.resource]
    await records.add_filters(db, caller.scope, user.user_id, rules)
    theirs = await load_effective_permissions(db, caller.scope, user.user_id)
    _refuse_beyond_filters(mine, theirs, keys, body)
    _refuse_to_widen_more(mine, so_far, theirs)
    return RolesMapped(
        success=[name for _, name in keys], failed=[], filters=_rules(theirs.filters)
    )


def _refuse_unsound(
    body: RolesMap | RolesReplace,
    existing: Collection[RoleKey],
    afterwards: Sequence[RoleKey],
) -> None:
    """Every broken rule at once; one is enough to change nothing."""
    broken = [
        Violation(f"roles[{index}].role", "an existing role")
        for index, key in enumerate(_keys(body.roles))
        if key not in existing
    ]
    for index, rule in enumerate(body.filters or []):
        broken += filter_violations(
            index, namespace=rule.namespace, type_=rule.type, resources=rule.resource
        )
    for namespace in Namespace:
        broken += too_many_roles(namespace, afterwards)
    refuse_if(broken)


def _refuse_to_map_more(
    mine: EffectivePermissions, permitted: Mapping[RoleKey, frozenset[str]]
) -> None:
    for (namespace, _), permissions in permitted.items():
        if not mine.allow(namespace, permissions):
            raise NotPermitted("maps_more", "nobody maps more than he holds")


def _refuse_beyond_filters(
    mine: EffectivePermissions,
    theirs: EffectivePermissions,
    keys: Sequence[RoleKey],
    body: RolesMap | RolesReplace,
) -> None:
    """Wherever the user gained something he must end up inside the mapper's own filters."""
    changed = {namespace for namespace, _ in keys}
    if body.filters is not None:
        changed |= theirs.permissions.keys()
    if not all(mine.reach(namespace, theirs.filters) for namespace in changed):
        raise NotPermitted("maps_more", "who is filtered maps inside his own filters")


def _refuse_to_widen_more(
    mine: EffectivePermissions, so_far: EffectivePermissions, theirs: EffectivePermissions
) -> None:
    """Wider filters are a gain in everything the user may do, mapped now or long ago."""
    for namespace, held in theirs.permissions.items():
        wider = not so_far.reach(namespace, theirs.filters)
        if wider and not mine.allow(namespace, held):
            raise NotPermitted("maps_more", "nobody maps more than he holds")


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
