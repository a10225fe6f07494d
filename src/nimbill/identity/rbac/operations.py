"""Changes to roles and mappings: the checks in order, then the change."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.effective_permissions import (
    BILLING_GROUPS,
    EffectivePermissions,
    FilterKey,
    load_effective_permissions,
    load_filters,
)
from nimbill.access.hooks import FindCompanyIds
from nimbill.database.tenant_scope import Row
from nimbill.foundation.errors import (
    Conflict,
    NotPermitted,
    Violation,
    not_found,
    refuse_if,
    rule_violations_error,
)
from nimbill.foundation.product import Product
from nimbill.http.object_version import ObjectVersion
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
    find_filter_violations,
    find_permission_violations,
    find_role_count_violations,
    normalize_permissions,
)
from nimbill.identity.users import records as users
from nimbill.identity.users.operations import load_caller_permissions, load_user_permissions

Filters = Mapping[FilterKey, frozenset[str]]

UNKNOWN_SUBUSER = Violation("user_id", "an existing subuser")
OUTSIDE_OWN_FILTERS = "You cannot map roles outside your own filters."


@dataclass(frozen=True, slots=True)
class ResolvedFilters:
    rows: Sequence[tuple[str, str, str]]  # namespace, type, resource
    violations: Sequence[Violation]
    has_hidden_groups: bool  # a restricted caller named a group that it cannot see


async def create_role(db: AsyncConnection, caller: Caller, body: RoleCreate) -> Role:
    """Create a role of the root user with permissions that the caller has too."""
    key = (body.namespace.value, body.name)
    refuse_if(list(find_permission_violations(Product(body.namespace), body.permissions)))
    permissions = normalize_permissions(body.permissions)
    caller_permissions = await load_caller_permissions(db, caller)
    _refuse_to_grant(caller_permissions, body.namespace, permissions)
    await _refuse_duplicate_name(db, caller, key)
    await _refuse_name_of_role_above(db, caller, caller_permissions, body.name)
    await records.add_role(db, caller.scope, caller.root_user, key, permissions)
    return Role(name=body.name, namespace=body.namespace, permissions=permissions)


async def update_role(
    db: AsyncConnection, caller: Caller, namespace: str, rolename: str, body: RoleUpdate
) -> Role:
    """Rename a role or replace its permissions; the caller must have the old and the new ones."""
    key = (namespace, rolename)
    role = await records.lock_role(db, caller.scope, caller.root_user, key)
    if role is None:
        raise not_found()
    requested = role.permissions if body.permissions is None else body.permissions
    refuse_if(list(find_permission_violations(Product(role.namespace), requested)))
    permissions, name = normalize_permissions(requested), body.name or role.name
    caller_permissions = await load_caller_permissions(db, caller)
    if body.permissions is not None:
        _refuse_to_grant(caller_permissions, namespace, permissions)
        before = EffectivePermissions({namespace: frozenset(role.permissions)}, {})
        if not before.includes(namespace, frozenset(permissions)):
            await _refuse_to_grant_beyond_filters(db, caller, caller_permissions, key)
    if permissions != role.permissions or name != rolename:
        _refuse_role_above(caller_permissions, role)
    if name != rolename:
        await _refuse_duplicate_name(db, caller, (namespace, name))
        await _refuse_name_of_role_above(db, caller, caller_permissions, name)
    await records.update_role(
        db, caller.scope, caller.root_user, key, name=name, permissions=permissions
    )
    return Role(name=name, namespace=Namespace(namespace), permissions=permissions)


async def delete_role(db: AsyncConnection, caller: Caller, namespace: str, rolename: str) -> None:
    """Delete a role and its mappings; refuse a role with more permissions than the caller."""
    key = (namespace, rolename)
    role = await records.lock_role(db, caller.scope, caller.root_user, key)
    if role is None:
        raise not_found()
    _refuse_role_above(await load_caller_permissions(db, caller), role)
    await records.delete_role(db, caller.scope, caller.root_user, key)


async def _refuse_duplicate_name(db: AsyncConnection, caller: Caller, key: RoleKey) -> None:
    if await records.role_exists(db, caller.scope, caller.root_user, key):
        raise Conflict("role_name_taken", "This namespace already has a role with this name.")


def _refuse_role_above(caller_permissions: EffectivePermissions, role: Row) -> None:
    """Whoever maps this role by its name must get the role that they know."""
    if not caller_permissions.includes(role.namespace, frozenset(role.permissions)):
        raise NotPermitted("role_above", "This role has permissions that you do not have.")


async def _refuse_name_of_role_above(
    db: AsyncConnection, caller: Caller, caller_permissions: EffectivePermissions, name: str
) -> None:
    """A role that looks like a more powerful one could be mistaken for it."""
    for role in await records.list_roles_named(db, caller.scope, caller.root_user, name):
        if not caller_permissions.includes(role.namespace, frozenset(role.permissions)):
            raise NotPermitted(
                "role_above",
                "A role with this name has permissions that you do not have. Choose another name.",
            )


def _refuse_to_grant(
    caller_permissions: EffectivePermissions, namespace: str, permissions: Sequence[str]
) -> None:
    if not caller_permissions.includes(namespace, frozenset(permissions)):
        raise NotPermitted("grants_more", "You cannot grant permissions you do not have.")


async def _refuse_to_grant_beyond_filters(
    db: AsyncConnection, caller: Caller, caller_permissions: EffectivePermissions, key: RoleKey
) -> None:
    """Adding permissions to a role grants them to every user of the role, within its filters."""
    namespace = key[0]
    for user_id in await records.list_users_with_role(db, caller.scope, caller.root_user, key):
        filters = await load_filters(db, caller.scope, user_id)
        if not caller_permissions.covers_filters(namespace, filters):
            raise NotPermitted(
                "grants_more", "You cannot grant permissions outside your own filters."
            )


async def replace_name_by_id(db: AsyncConnection, caller: Caller, body: RolesMap) -> RolesMap:
    """A user id has a prefix and is longer than any name, so the two cannot be confused."""
    named = await users.find_user_by_name(db, caller.scope, body.user_id)
    return body if named is None else msgspec.structs.replace(body, user_id=named.user_id)


async def map_roles(
    db: AsyncConnection, caller: Caller, body: RolesMap, find_company_ids: FindCompanyIds
) -> RolesMapped:
    """Add all of these roles and filters to a subuser, or none of them."""
    user = await _lock_subuser(db, caller, body.user_id)
    if user is None:
        raise rule_violations_error([UNKNOWN_SUBUSER])
    filters = await resolve_filters(db, caller, body.filters, find_company_ids)
    return await _store_mappings(db, caller, user, body, filters, replace=False)


async def replace_mappings(
    db: AsyncConnection,
    caller: Caller,
    user_id: str,
    body: RolesReplace,
    find_company_ids: FindCompanyIds,
) -> RolesMapped:
    """Replace the roles of a subuser. Absent filters are kept, an empty list clears them."""
    user = await _lock_subuser(db, caller, user_id)
    if user is None:
        raise not_found()
    filters = await resolve_filters(db, caller, body.filters, find_company_ids)
    return await _store_mappings(db, caller, user, body, filters, replace=True)


async def _lock_subuser(db: AsyncConnection, caller: Caller, user_id: str) -> Row | None:
    """Lock the user, so that concurrent changes cannot exceed the maximum number of roles."""
    user = await users.lock_user(db, caller.scope, user_id)
    if user is None or user.root_user != caller.root_user or user.user_id == user.root_user:
        return None
    return user


async def _store_mappings(
    db: AsyncConnection,
    caller: Caller,
    user: Row,
    body: RolesMap | RolesReplace,
    filters: ResolvedFilters,
    *,
    replace: bool,
) -> RolesMapped:
    """Change roles and filters, then check the resulting permissions.

    The caller's own permissions are loaded first, because the caller may be the user.
    """
    scope = caller.scope
    caller_permissions = await load_caller_permissions(db, caller)
    before = await load_effective_permissions(db, scope, user.user_id)
    mapped = await records.list_mapped_roles(db, scope, user.user_id)
    keys = list(dict.fromkeys(_to_role_keys(body.roles)))
    removed = [key for key in mapped if key not in keys] if replace else []
    role_permissions = await records.lock_role_permissions(
        db, scope, caller.root_user, [*keys, *removed]
    )
    resulting = keys if replace else [*mapped, *keys]
    _refuse_invalid_mappings(body, role_permissions, resulting, filters.violations)
    if filters.has_hidden_groups:
        raise NotPermitted("maps_more", OUTSIDE_OWN_FILTERS)
    _refuse_roles_beyond_caller(caller_permissions, role_permissions, keys)
    _refuse_to_remove(caller_permissions, role_permissions, removed)

    if replace:
        await records.delete_mappings(db, scope, user.user_id)
        if body.filters is not None:
            await records.delete_filters(db, scope, user.user_id)
    await records.map_roles(db, scope, root_user=caller.root_user, user_id=user.user_id, keys=keys)
    await records.add_filters(db, scope, user.user_id, filters.rows)

    after = await load_effective_permissions(db, scope, user.user_id)
    _refuse_beyond_filters(caller_permissions, after, keys, body)
    _refuse_wider_filters(caller_permissions, before, after)
    _refuse_narrower_filters(caller_permissions, before, after)
    return RolesMapped(
        success=[name for _, name in keys], failed=[], filters=_to_filtering_rules(after.filters)
    )


def _refuse_invalid_mappings(
    body: RolesMap | RolesReplace,
    existing: Collection[RoleKey],
    resulting: Sequence[RoleKey],
    filter_violations: Sequence[Violation],
) -> None:
    """Report every violation at once; `resulting` are the roles that the user would have."""
    violations = [
        Violation(f"roles[{index}].role", "an existing role")
        for index, key in enumerate(_to_role_keys(body.roles))
        if key not in existing
    ]
    for index, rule in enumerate(body.filters or []):
        violations += find_filter_violations(
            index, namespace=rule.namespace, type_=rule.type, resources=rule.resource
        )
    violations += filter_violations
    for namespace in Namespace:
        violations += find_role_count_violations(namespace, resulting)
    refuse_if(violations)


def _refuse_roles_beyond_caller(
    caller_permissions: EffectivePermissions,
    role_permissions: Mapping[RoleKey, frozenset[str]],
    keys: Sequence[RoleKey],
) -> None:
    for key in keys:
        if not caller_permissions.includes(key[0], role_permissions[key]):
            raise NotPermitted(
                "maps_more", "You cannot map roles with permissions you do not have."
            )


def _refuse_to_remove(
    caller_permissions: EffectivePermissions,
    role_permissions: Mapping[RoleKey, frozenset[str]],
    removed: Sequence[RoleKey],
) -> None:
    """Otherwise somebody who may map roles could disarm the administrators."""
    for key in removed:
        if not caller_permissions.includes(key[0], role_permissions[key]):
            raise NotPermitted(
                "holds_more", "You cannot remove roles with permissions you do not have."
            )


def _refuse_beyond_filters(
    caller_permissions: EffectivePermissions,
    after: EffectivePermissions,
    keys: Sequence[RoleKey],
    body: RolesMap | RolesReplace,
) -> None:
    """In every namespace that changed, the user must end up within the caller's filters."""
    changed = {namespace for namespace, _ in keys}
    if body.filters is not None:
        changed |= after.permissions.keys()
    if not all(
        caller_permissions.covers_filters(namespace, after.filters) for namespace in changed
    ):
        raise NotPermitted("maps_more", OUTSIDE_OWN_FILTERS)


def _refuse_wider_filters(
    caller_permissions: EffectivePermissions,
    before: EffectivePermissions,
    after: EffectivePermissions,
) -> None:
    """Wider filters extend all permissions of the user, also those mapped earlier."""
    for namespace, permissions in after.permissions.items():
        is_wider = not before.covers_filters(namespace, after.filters)
        if is_wider and not caller_permissions.includes(namespace, permissions):
            raise NotPermitted(
                "maps_more", "You cannot map roles with permissions you do not have."
            )


def _refuse_narrower_filters(
    caller_permissions: EffectivePermissions,
    before: EffectivePermissions,
    after: EffectivePermissions,
) -> None:
    """Narrower filters take something away from all permissions of the user."""
    for namespace, permissions in before.permissions.items():
        is_narrower = not after.covers_filters(namespace, before.filters)
        if is_narrower and not caller_permissions.includes(namespace, permissions):
            raise NotPermitted(
                "holds_more",
                "You cannot restrict a user who has permissions that you do not have.",
            )


def _to_role_keys(references: Sequence[RoleReference]) -> list[RoleKey]:
    return [(reference.namespace.value, reference.role) for reference in references]


def _to_filtering_rules(filters: Filters) -> list[FilteringRule]:
    return [
        FilteringRule(namespace=Namespace(namespace), type=type_, resource=sorted(resources))
        for (namespace, type_), resources in sorted(filters.items())
    ]


async def list_mappings(db: AsyncConnection, caller: Caller, user: Row) -> list[RoleMapping]:
    """List every role and every filter of a user as separate items."""
    roles = await records.list_mapped_roles(db, caller.scope, user.user_id)
    filters = await load_filters(db, caller.scope, user.user_id)
    role_mappings = [
        RoleMapping(
            root_user=user.root_user,
            sub_user=user.user_id,
            namespace=Namespace(namespace),
            role=role,
        )
        for namespace, role in roles
    ]
    filter_mappings = [
        RoleMapping(
            root_user=user.root_user,
            sub_user=user.user_id,
            namespace=Namespace(namespace),
            filter=f"{type_}:{resource}",
        )
        for (namespace, type_), resources in sorted(filters.items())
        for resource in sorted(resources)
    ]
    return role_mappings + filter_mappings


async def list_permissions(
    db: AsyncConnection, caller: Caller, user: Row
) -> list[PermissionListing]:
    """List the permissions of all roles of a user. The root user has Admin in every namespace."""
    effective = await load_user_permissions(db, caller.scope, user)
    root_permissions = {"Admin"} if effective.is_root else None
    return [
        PermissionListing(
            namespace=namespace,
            permissions=sorted(
                root_permissions or effective.permissions.get(namespace.value, frozenset())
            ),
        )
        for namespace in (Namespace.portal, Namespace.core)
    ]


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


async def resolve_filters(
    db: AsyncConnection,
    caller: Caller,
    rules: Sequence[FilteringRule] | None,
    find_company_ids: FindCompanyIds,
) -> ResolvedFilters:
    """Look up billing groups. A restricted caller learns nothing about groups it cannot see."""
    names = [name for rule in rules or [] if _names_groups(rule) for name in rule.resource]
    company_ids = await find_company_ids(db, caller.scope, names) if names else {}
    unknown = [
        Violation(f"filters[{index}].resource[{position}]", "an existing billing group")
        for index, rule in enumerate(rules or [])
        if _names_groups(rule)
        for position, name in enumerate(rule.resource)
        if name not in company_ids
    ]
    rows = [
        (
            rule.namespace.value,
            rule.type,
            company_ids.get(resource, resource) if _names_groups(rule) else resource,
        )
        for rule in rules or []
        for resource in rule.resource
    ]
    is_restricted = caller.scope.billing_groups is not None
    return ResolvedFilters(rows, [] if is_restricted else unknown, is_restricted and bool(unknown))


def _names_groups(rule: FilteringRule) -> bool:
    return (rule.namespace.value, rule.type) == BILLING_GROUPS
