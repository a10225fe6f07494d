"""A slow, simple oracle: list every single action that a user can perform on every resource."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from nimbill.access.effective_permissions import EffectivePermissions, FilterKey

# One more action and resource than the tests name represents all others.
ANY_OTHER = "any other"
ACTIONS = ("ReadUsers", "ModifyUsers", "ModifyApiClients", "ModifyRoles", "ReadInvoice", ANY_OTHER)
RESOURCES = ("a", "b", "c", ANY_OTHER)
GROUPS: FilterKey = ("core", "billingGroup")
TYPES: Mapping[str, tuple[FilterKey, ...]] = {
    "core": (GROUPS,),
    # a filter on billing groups also applies in the portal
    "portal": (GROUPS, ("portal", "linkAcct"), ("portal", "tags")),
}
NAMESPACES = tuple(TYPES)
Filters = Mapping[FilterKey, frozenset[str]]


def list_visible_resources(namespace: str, filters: Filters) -> set[tuple[str, ...]]:
    """List the resources of a namespace that the filters allow."""
    resources = [filters.get(key) or RESOURCES for key in TYPES[namespace]]
    return set(product(*resources))


def list_possible_actions(permissions: EffectivePermissions) -> set[tuple[str, ...]]:
    """List every namespace, action and resource that the permissions allow."""
    if permissions.is_root:
        everything = {
            (namespace, action, *resource)
            for namespace in NAMESPACES
            for action in ACTIONS
            for resource in list_visible_resources(namespace, {})
        }
        return everything | {("any namespace", "only for root users")}
    possible = set()
    for namespace, granted in permissions.permissions.items():
        actions = ACTIONS if "Admin" in granted else granted
        possible |= {
            (namespace, action, *resource)
            for action in actions
            for resource in list_visible_resources(namespace, permissions.filters)
        }
    return possible
