"""Everything somebody can do, written down thing by thing: slow, and too plain to be wrong."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from nimbill.access.effective_permissions import EffectivePermissions, FilterKey

# One action and one resource more than anybody names stands for all the rest of the world.
THE_REST = "whatever else there is"
ACTIONS = ("ReadUsers", "ModifyUsers", "ModifyApiClients", "ModifyRoles", "ReadInvoice", THE_REST)
RESOURCES = ("a", "b", "c", THE_REST)
GROUPS: FilterKey = ("core", "billingGroup")
TYPES: Mapping[str, tuple[FilterKey, ...]] = {
    "core": (GROUPS,),
    # the groups that a filter hides are hidden in the portal too
    "portal": (GROUPS, ("portal", "linkAcct"), ("portal", "tags")),
}
NAMESPACES = tuple(TYPES)
Filters = Mapping[FilterKey, frozenset[str]]


def seen(namespace: str, filters: Filters) -> set[tuple[str, ...]]:
    """Everything there is to look at in a namespace, and not filtered away."""
    each = [filters.get(key) or RESOURCES for key in TYPES[namespace]]
    return set(product(*each))


def doable(holdings: EffectivePermissions) -> set[tuple[str, ...]]:
    """Every single thing somebody can do: where, what, on what."""
    if holdings.is_root:
        everything = {
            (namespace, action, *on)
            for namespace in NAMESPACES
            for action in ACTIONS
            for on in seen(namespace, {})
        }
        return everything | {("everywhere", "what root users alone may")}
    can = set()
    for namespace, held in holdings.permissions.items():
        actions = ACTIONS if "Admin" in held else held
        can |= {
            (namespace, one, *on) for one in actions for on in seen(namespace, holdings.filters)
        }
    return can
