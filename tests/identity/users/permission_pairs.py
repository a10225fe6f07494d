"""Pairs of users of whom the second has more permissions than the first, or does not."""

from typing import Any

GROUP_A = ("core", "billingGroup", "cmp_a")
GROUP_B = ("core", "billingGroup", "cmp_b")

# the permissions of a caller, and those of a user who has more
MORE_PERMISSIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "Admin": ({"core": ["ModifyUsers"]}, {"core": ["Admin"]}),
    "Admin of the other namespace": ({"core": ["ModifyUsers"]}, {"portal": ["Admin"]}),
    "one more permission": ({"core": ["ModifyUsers"]}, {"core": ["ModifyUsers", "ReadAudit"]}),
    "another permission": ({"core": ["ModifyUsers"]}, {"core": ["ReadUsers"]}),
    "the same in the other namespace": ({"core": ["ModifyUsers"]}, {"portal": ["ModifyUsers"]}),
    "no filter": (
        {"core": ["ModifyUsers"], "filters": [GROUP_A]},
        {"core": ["ModifyUsers"]},
    ),
    "a wider filter": (
        {"core": ["ModifyUsers"], "filters": [GROUP_A]},
        {"core": ["ModifyUsers"], "filters": [GROUP_A, GROUP_B]},
    ),
    "another filter": (
        {"core": ["ModifyUsers"], "filters": [GROUP_A]},
        {"core": ["ModifyUsers"], "filters": [GROUP_B]},
    ),
    "no filter in the portal": (
        {"core": ["ModifyUsers"], "portal": ["ReadTags"], "filters": [GROUP_A]},
        {"portal": ["ReadTags"]},
    ),
}

NO_MORE_PERMISSIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "nothing": ({"core": ["ModifyUsers"]}, {}),
    "a role without permissions": ({"core": ["ModifyUsers"]}, {"portal": []}),
    "the same": ({"core": ["ModifyUsers"]}, {"core": ["ModifyUsers"]}),
    "less": ({"core": ["ModifyUsers", "ReadAudit"]}, {"core": ["ReadAudit"]}),
    "any permissions in a namespace where the caller is Admin": (
        {"core": ["Admin"]},
        {"core": ["ModifyUsers", "ReadAudit", "ModifyRoles"]},
    ),
    "a narrower filter": (
        {"core": ["ModifyUsers"], "filters": [GROUP_A, GROUP_B]},
        {"core": ["ModifyUsers"], "filters": [GROUP_B]},
    ),
    "a filter where the caller has none": (
        {"core": ["ModifyUsers"]},
        {"core": ["ModifyUsers"], "filters": [GROUP_B]},
    ),
}
