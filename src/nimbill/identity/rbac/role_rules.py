"""Rules of role names, permissions, number of roles and filtering rules."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from nimbill.access.role_actions import PERMISSIONS_BY_PRODUCT, TAG_SEPARATOR
from nimbill.foundation.basis import chosen, stated
from nimbill.foundation.errors import Violation
from nimbill.foundation.product import Product

basis = stated("Access control")
tags_basis = chosen("portal-filters")

TAGS = "tags"  # the type of filters on tags

# 6 to 32 characters; hyphens and underscores neither at the start nor at the end.
ROLE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{4,30}[A-Za-z0-9]")
ROLES_PER_NAMESPACE_MAX = 5
RESOURCE_LENGTH_MAX = 512
FILTER_TYPES: Mapping[str, tuple[str, ...]] = {
    Product.portal: ("linkAcct", "group", TAGS),
    Product.core: ("billingGroup",),
}


def normalize_permissions(permissions: Sequence[str]) -> list[str]:
    """Admin replaces all other permissions; duplicates are removed."""
    return ["Admin"] if "Admin" in permissions else list(dict.fromkeys(permissions))


def find_role_name_violations(name: object) -> Iterator[Violation]:
    if not isinstance(name, str) or not ROLE_NAME.fullmatch(name):
        rule = "6 to 32 letters and digits, hyphens and underscores between them"
        yield Violation("name", rule)


def find_permission_violations(
    namespace: Product, permissions: Sequence[str]
) -> Iterator[Violation]:
    """Report permissions that the namespace does not offer. Admin replaces all others."""
    if "Admin" in permissions:
        return
    for index, permission in enumerate(permissions):
        if permission not in PERMISSIONS_BY_PRODUCT[namespace]:
            yield Violation(f"permissions[{index}]", f"offered in namespace {namespace}")


def find_filter_violations(
    index: int, *, namespace: str, type_: str, resources: Sequence[str]
) -> Iterator[Violation]:
    """Require a resource: a rule without any would restrict nothing.

    A tag without a value would admit nothing, which nobody means.
    """
    allowed = FILTER_TYPES[namespace]
    if type_ not in allowed:
        yield Violation(f"filters[{index}].type", f"one of {', '.join(allowed)}")
    if not resources:
        yield Violation(f"filters[{index}].resource", "at least one")
    if type_ == TAGS and type_ in allowed:
        for number, resource in enumerate(resources):
            key, separator, _ = resource.partition(TAG_SEPARATOR)
            if not key or not separator:
                yield Violation(f"filters[{index}].resource[{number}]", "a tag as KEY=VALUE")


def find_role_count_violations(
    namespace: str, keys: Collection[tuple[str, str]]
) -> Iterator[Violation]:
    """Limit the roles of a user; `keys` are namespace and name, duplicates count once."""
    if len({key for key in keys if key[0] == namespace}) > ROLES_PER_NAMESPACE_MAX:
        yield Violation("roles", f"at most {ROLES_PER_NAMESPACE_MAX} roles in a namespace")
