"""Pairs of people: in one table the second may do more than the first, in the other not."""

from typing import Any

GROUP_A = ("core", "billingGroup", "cmp_a")
GROUP_B = ("core", "billingGroup", "cmp_b")

# what somebody holds, and what somebody else who holds more has beyond it
HOLDS_MORE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
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

HOLDS_NO_MORE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "nothing": ({"core": ["ModifyUsers"]}, {}),
    "a role that permits nothing": ({"core": ["ModifyUsers"]}, {"portal": []}),
    "the same": ({"core": ["ModifyUsers"]}, {"core": ["ModifyUsers"]}),
    "less": ({"core": ["ModifyUsers", "ReadAudit"]}, {"core": ["ReadAudit"]}),
    "anything in a namespace of which one is Admin": (
        {"core": ["Admin"]},
        {"core": ["ModifyUsers", "ReadAudit", "ModifyRoles"]},
    ),
    "a narrower filter": (
        {"core": ["ModifyUsers"], "filters": [GROUP_A, GROUP_B]},
        {"core": ["ModifyUsers"], "filters": [GROUP_B]},
    ),
    "a filter where one has none": (
        {"core": ["ModifyUsers"]},
        {"core": ["ModifyUsers"], "filters": [GROUP_B]},
    ),
}
