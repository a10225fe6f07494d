"""Request and response bodies of the access control routes."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, UnsetType

from nimbill.foundation.basis import Basis, chosen, stated
from nimbill.foundation.errors import Violation
from nimbill.http.request_bodies import Body, text_length
from nimbill.identity.rbac.role_rules import RESOURCE_LENGTH_MAX, find_role_name_violations


class Namespace(StrEnum):
    core = "core"
    portal = "portal"


class PermissionListing(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = stated("Permission listing item")

    namespace: Namespace
    permissions: list[str]


class RoleCreate(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("role-paths")

    name: str
    namespace: Namespace
    permissions: list[str]

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        return find_role_name_violations(sent.get("name"))


class RoleUpdate(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("role-paths")

    name: str | None = None
    permissions: list[str] | None = None

    @classmethod
    def rule_violations(cls, sent: Mapping[str, Any]) -> Iterator[Violation]:
        if sent.get("name") is not None:
            yield from find_role_name_violations(sent["name"])


class Role(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("role-paths")

    name: str
    namespace: Namespace
    permissions: list[str]
    etag: str | UnsetType = UNSET  # with the parameter `etags`


class RoleReference(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("role-mappings")

    namespace: Namespace
    role: str


class FilteringRule(Body, frozen=True, kw_only=True):
    """Restricts a user to resources of one type. Without a rule the type is unrestricted."""

    basis: ClassVar[Basis] = chosen("role-mappings")

    namespace: Namespace
    type: str
    resource: list[Annotated[str, text_length(1, RESOURCE_LENGTH_MAX)]]


class RolesMap(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("role-mappings")

    user_id: str
    roles: list[RoleReference]
    filters: list[FilteringRule] | None = None


class RolesReplace(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("role-mappings")

    roles: list[RoleReference]
    filters: list[FilteringRule] | None = None


class RolesMapped(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("role-mappings")

    success: list[str]
    failed: list[str]
    filters: list[FilteringRule]


class RoleMapping(Body, frozen=True, kw_only=True, omit_defaults=True):
    """Either a role or a filter in the form `type:resource`."""

    basis: ClassVar[Basis] = chosen("role-mappings")

    root_user: str
    sub_user: str
    namespace: Namespace
    role: str | None = None
    filter: str | None = None


class NamespaceAccess(Body, frozen=True, kw_only=True):
    """The roles of a person in one namespace, and the single role actions that they add up to."""

    basis: ClassVar[Basis] = chosen("effective-access")

    namespace: Namespace
    roles: list[str]
    permissions: list[str]


class FilteredGroup(Body, frozen=True, kw_only=True):
    """A billing group that a filter names."""

    basis: ClassVar[Basis] = chosen("effective-access")

    company_id: str
    billinggroup_id: str
    billinggroup_name: str


class EffectiveAccess(Body, frozen=True, kw_only=True):
    """`billing_groups` is null without a filter: then the person sees every group."""

    basis: ClassVar[Basis] = chosen("effective-access")

    user_id: str
    username: str
    namespaces: list[NamespaceAccess]
    billing_groups: list[FilteredGroup] | None
    filters: list[FilteringRule]
