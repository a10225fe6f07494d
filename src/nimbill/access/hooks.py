"""Functions of packages above that this and other lower packages call.

The application sets them when a worker starts. None has a default: a forgotten one is a TypeError.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.database.tenant_scope import Row, TenantScope
from nimbill.foundation.language import Language


class GroupName(NamedTuple):
    company_id: str
    billinggroup_id: str
    billinggroup_name: str


# Runs a stored job at once; returns False if it is not due or runs elsewhere.
RunJobNow = Callable[[TenantScope, str], Awaitable[bool]]

# Returns those of the account numbers that have costs in the organisation.
ListChargedAccounts = Callable[
    [AsyncConnection, TenantScope, Collection[str]], Awaitable[Collection[str]]
]

# Returns the vendors that have records, and what these are, such as "accounts".
FindUsedVendors = Callable[[AsyncConnection, TenantScope], Awaitable[Mapping[str, str]]]

# Returns the company_ids of those names that are a company_id or billinggroup_id of a billing group
# that the caller may see.
FindCompanyIds = Callable[
    [AsyncConnection, TenantScope, Collection[str]], Awaitable[Mapping[str, str]]
]

# Names those of the company_ids that are a billing group that the caller may see.
ListGroupNames = Callable[
    [AsyncConnection, TenantScope, Collection[str]], Awaitable[Sequence[GroupName]]
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    run_job_now: RunJobNow
    list_charged_accounts: ListChargedAccounts
    # Returns the vendors that the organisation bills; the last argument keeps them enabled until
    # the end of the transaction.
    load_vendors: Callable[[AsyncConnection, TenantScope, bool], Awaitable[Sequence[str]]]
    find_used_vendors: FindUsedVendors
    find_company_ids: FindCompanyIds
    list_group_names: ListGroupNames
    # Returns the language of messages to a user.
    find_language: Callable[[AsyncConnection, TenantScope, Row], Awaitable[Language]]
    # Returns whether the organisation requires a second factor of this user.
    requires_second_factor: Callable[[AsyncConnection, TenantScope, Row], Awaitable[bool]]
    # Returns the name under which an authenticator app lists a user's codes.
    find_issuer_name: Callable[[AsyncConnection, TenantScope, Row], Awaitable[str]]
    approvable_operations: Mapping[str, Any]  # by kind, see nimbill.approvals.approvable_operation
