"""Request and response bodies of approvals."""

from enum import StrEnum
from typing import Annotated, Any, ClassVar

from nimbill.approvals.approval_kinds import ApprovalKind
from nimbill.foundation.basis import Basis, chosen
from nimbill.http.request_bodies import Body, described, text_length

REASON = text_length(1, 1_000)
HASH = text_length(64, 64)


class ApprovalState(StrEnum):
    requested = "requested"
    approved = "approved"
    rejected = "rejected"
    withdrawn = "withdrawn"
    expired = "expired"
    outdated = "outdated"  # what was reviewed has changed since


class ApprovalRequestBody(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("approvals")

    kind: ApprovalKind
    target: Annotated[
        dict[str, str] | None,
        described(
            "the path parameters of the operation: month, vendor, company_id, import_id, "
            "invoice_template_id; which of them depends on the kind. With kind credit_note, "
            "`operation` replacement or cancellation names another operation on the invoice"
        ),
    ] = None
    body: Annotated[dict[str, Any], described("the body of the operation, as its route takes it")]
    comment: Annotated[str, text_length(0, 1_000)] | None = None


class ApprovalDecision(Body, frozen=True, kw_only=True):
    """The hash is that of the request as the approver has seen it."""

    basis: ClassVar[Basis] = chosen("approvals")

    review_hash: Annotated[str, HASH]


class ApprovalRejection(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("approvals")

    reason: Annotated[str, REASON]


class ShortApproval(Body, frozen=True, kw_only=True):
    basis: ClassVar[Basis] = chosen("approvals")

    approval_id: str
    kind: ApprovalKind
    state: ApprovalState
    target: dict[str, str]
    comment: str
    company_ids: Annotated[
        list[str] | None, described("the billing groups; null if it belongs to no single ones")
    ]
    requested_by: Annotated[str, described("the name of the user")]
    create_time: str
    expire_time: str
    decided_by: Annotated[str | None, described("the name of the user")]
    decide_time: str | None
    reason: Annotated[str | None, described("of a rejection")]
    can_approve: Annotated[bool, described("whether the caller may approve it now")]
    can_withdraw: Annotated[bool, described("whether the caller may withdraw it now")]


class Approval(ShortApproval, frozen=True, kw_only=True):
    """A request with everything that is reviewed."""

    basis: ClassVar[Basis] = chosen("approvals")

    body: Annotated[dict[str, Any], described("the body of the operation")]
    review: Annotated[dict[str, Any], described("what the operation would do, and to what")]
    review_hash: Annotated[str, described("SHA-256 of what is reviewed; approving names it")]
    makers: Annotated[
        list[str], described("the user ids of those who made what is reviewed; none may approve")
    ]
    result: Annotated[dict[str, Any], described("ids of what the approved operation created")]
