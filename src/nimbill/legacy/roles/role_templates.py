"""Predefined role scopes, and the scope of users who have no role."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

# See docs/choices.md, role-templates.
# See docs/choices.md, default-scope.

VERSION = "2026-11-15"

_EVERYTHING = {
    "Effect": "Allow",
    "Action": ["stack:*", "template:*", "container:*"],
    "Resource": ["mrn:alm:*"],
}


class RoleTemplate(NamedTuple):
    id: str
    name: str
    scope: str  # a role scope document as JSON text


def _document(*statements: Mapping[str, Any]) -> str:
    return json.dumps({"version": VERSION, "Statement": statements})


ROLE_TEMPLATES = (
    # reads stacks, templates and containers
    RoleTemplate(
        "read-only",
        "Read only",
        _document(
            {
                "Effect": "Allow",
                "Action": ["stack:describe*", "template:describe*", "template:compareTemplate"],
                "Resource": ["mrn:alm:*"],
            },
            {
                "Effect": "Allow",
                "Action": ["container:describeContainers"],
                "Resource": ["mrn:alm:container:*"],
            },
        ),
    ),
    # updates existing stacks, but neither creates nor deletes one
    RoleTemplate(
        "operator",
        "Operator",
        _document(
            _EVERYTHING,
            {
                "Effect": "Deny",
                "Action": ["template:createAlmTemplate", "stack:deleteStack"],
                "Resource": ["*"],
            },
        ),
    ),
    RoleTemplate("full", "Full", _document(_EVERYTHING)),
)

DEFAULT_SCOPE = _document(_EVERYTHING)
