"""Scopes to start a role from, and the one of a user who has no role."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from nimbill.foundation.basis import chosen

basis = chosen("role-templates")
default_basis = chosen("default-scope")

VERSION = "2026-11-15"

_EVERYTHING = {
    "Effect": "Allow",
    "Action": ["stack:*", "template:*", "container:*"],
    "Resource": ["mrn:alm:*"],
}


class RoleTemplate(NamedTuple):
    id: str
    name: str
    scope: str  # the document as JSON text, as a role takes it


def _document(*statements: Mapping[str, Any]) -> str:
    return json.dumps({"version": VERSION, "Statement": statements})


ROLE_TEMPLATES = (
    # sees stacks, their templates and containers, and changes nothing
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
    # updates what is there, but neither applies a first template nor deletes a stack
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
    # everything with stacks, templates and containers
    RoleTemplate("full", "Full", _document(_EVERYTHING)),
)

WITHOUT_A_ROLE = _document(_EVERYTHING)
