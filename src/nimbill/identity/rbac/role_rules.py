"""Role names, how many roles, Admin alone, and the types of filtering rules."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from nimbill.access.role_actions import OFFERED
from nimbill.foundation.basis import stated
from nimbill.foundation.errors import Violation
from nimbill.foundation.vocabulary import Product

basis = stated("Access control (base {rbac_url})")

# 6 to 32 characters; hyphens and underscores stand between others, never at an end
ROLE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{4,30}[A-Za-z0-9]")
ROLES_PER_NAMESPACE_MAX = 5
RESOURCE_LENGTH_MAX = 512
FILTER_TYPES: Mapping[str, tuple[str, ...]] = {
    Product.portal: ("linkAcct", "group", "tags"),
    Product.core: ("billingGroup",),
}


def admin_alone(permissions: Sequence[str]) -> list[str]:
    """Admin discards every other entry; an entry that stands twice counts once."""
    return ["Admin"] if "Admin" in permissions else list(dict.fromkeys(permissions))


def role_name_violations(name: object) -> Iterator[Violation]:
    if not isinstance(name, str) or not ROLE_NAME.fullmatch(name):
        rule = "6 to 32 letters and digits, hyphens and underscores between them"
        yield Violation("name", rule)


def permission_violations(namespace: Product, permissions: Sequence[str]) -> Iterator[Violation]:
    """What Admin discards is not looked at."""
    if "Admin" in permissions:
        return
    for index, permission in enumerate(permissions):
        if permission not in OFFERED[namespace]:
            yield Violation(f"permissions[{index}]", f"offered in namespace {namespace}")


def filter_violations(
    index: int, *, namespace: str, type_: str, resources: Sequence[str]
) -> Iterator[Violation]:
    """A rule that names no resource would be none at all, and so open everything."""
    allowed = FILTER_TYPES[namespace]
    if type_ not in allowed:
        yield Violation(f"filters[{index}].type", f"one of {', '.join(allowed)}")
    if not resources:
        yield Violation(f"filters[{index}].resource", "at least one")


def too_many_roles(namespace: str, keys: Collection[tuple[str, str]]) -> Iterator[Violation]:
    """Keys are namespace and name of all that would be mapped; the same one twice counts once."""
    if len({key for key in keys if key[0] == namespace}) > ROLES_PER_NAMESPACE_MAX:
        yield Violation("roles", f"at most {ROLES_PER_NAMESPACE_MAX} roles in a namespace")
