"""What the approval of an operation needs to know about it; each package describes its own."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.request_context import Resources
from nimbill.access.role_actions import RoleAction
from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.approvals.requirement import ApprovedRequest
from nimbill.database.tenant_scope import TenantScope

Target = Mapping[str, str]  # name of a path parameter of the operation to its value


@dataclass(frozen=True, slots=True)
class Execution:
    """An operation with everything that its request contains."""

    db: AsyncConnection
    scope: TenantScope
    resources: Resources
    target: Target
    body: Any  # validated
    approved: ApprovedRequest
    by: str  # the name of the requester


@dataclass(frozen=True, slots=True, kw_only=True)
class PerformedOperation:
    """What the operation saw under its locks, and what it did."""

    review: Mapping[str, Any]  # what the approver sees; equal as long as nothing has changed
    action: str  # of the usual audit row
    resource: str
    company_ids: Collection[str] | None = None  # billing groups; None: shared records
    makers: Collection[str] = ()  # user ids of those who made what is reviewed
    result: Mapping[str, Any] = field(default_factory=dict)  # ids of what was created

    @property
    def company_id(self) -> str | None:
        only = list(self.company_ids or ())
        return only[0] if len(only) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovableOperation:
    """`perform` executes the operation. A new request calls it too, and is rolled back then."""

    kind: ApprovalKind
    role_actions: tuple[RoleAction, ...]  # one of them is needed to request it
    choose_body: Callable[[Target], type[Any]]
    target_fields: frozenset[str] = frozenset()  # required
    optional_fields: frozenset[str] = frozenset()
    is_shared: bool  # changes records that belong to no single billing group
    perform: Callable[[Execution], Awaitable[PerformedOperation]]
