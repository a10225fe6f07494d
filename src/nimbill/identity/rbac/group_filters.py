"""Filters of a request as they are stored: billing groups by their company_id."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.effective_permissions import BILLING_GROUPS
from nimbill.access.hooks import FindCompanyIds
from nimbill.foundation.errors import Violation
from nimbill.identity.rbac.bodies import FilteringRule


@dataclass(frozen=True, slots=True)
class ResolvedFilters:
    rows: Sequence[tuple[str, str, str]]  # namespace, type, resource
    violations: Sequence[Violation]
    has_hidden_groups: bool  # a restricted caller named a group that it cannot see


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
