"""Response bodies of the audit log."""

from typing import Any, ClassVar

from msgspec import UNSET, UnsetType

from nimbill.foundation.basis import Basis, chosen
from nimbill.http.request_bodies import Body


class AuditEntry(Body, frozen=True, kw_only=True):
    """A change with its actor, time, client and position in the hash chain."""

    basis: ClassVar[Basis] = chosen("audit-log")

    seq: int
    hash: str
    at: str
    actor: str
    actor_name: str
    client_id: str | None
    action: str
    resource: str
    company_id: str | None
    request_id: str
    sent: Any
    # with the parameter `details`; null if the caller cannot see it, or it was deleted
    billinggroup_name: str | UnsetType | None = UNSET  # of company_id
    object_username: str | UnsetType | None = UNSET  # of the user that the resource names


class AuditVerification(Body, frozen=True, kw_only=True):
    """`first_bad_row` and `reason` say where the chain is broken; both are null if it is intact."""

    basis: ClassVar[Basis] = chosen("audit-verification")

    intact: bool
    rows: int
    checkpoints: int
    first_bad_row: int | None
    reason: str | None
    verified_at: str
