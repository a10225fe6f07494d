"""Approvals: operations that wait for a second person."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from nimbill_client.connection import Call, Connection
from nimbill_client.pages import iterate_pages
from nimbill_client.record import Record

PATH = "/m/core/approvals"
APPROVAL_PATH = "/m/core/approvals/{approval_id}"


class ApprovalRequestBody(Record, frozen=True, kw_only=True):
    """`target` has the path parameters of the operation, `body` is its body."""

    kind: str
    target: dict[str, str] = msgspec.field(default_factory=dict)
    body: dict[str, Any]
    comment: str = ""


class ShortApproval(Record, frozen=True, kw_only=True):
    """`state` is requested, approved, rejected, withdrawn, expired or outdated."""

    approval_id: str
    kind: str
    state: str
    target: dict[str, str]
    comment: str
    company_ids: list[str] | None
    requested_by: str
    create_time: str
    expire_time: str
    decided_by: str | None
    decide_time: str | None
    reason: str | None
    can_approve: bool
    can_withdraw: bool


class Approval(ShortApproval, frozen=True, kw_only=True):
    """A request with everything that is reviewed; `review_hash` is sent to approve it."""

    body: dict[str, Any]
    review: dict[str, Any]
    review_hash: str
    makers: list[str]
    result: dict[str, Any]


class Approvals:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list_all(
        self, *, state: str | None = None, kind: str | None = None
    ) -> Iterator[ShortApproval]:
        """The newest first; your own only, unless you may approve."""
        query = {"state": state, "approval_kind": kind}
        return iterate_pages(
            lambda page: self._connection.fetch(
                list[ShortApproval], Call(method="GET", path=PATH, query={**page, **query})
            )
        )

    def read(self, approval_id: str) -> Approval:
        call = Call(method="GET", path=APPROVAL_PATH, ids={"approval_id": approval_id})
        return self._connection.fetch(Approval, call)

    def request(self, request: ApprovalRequestBody, *, key: str | None = None) -> Approval:
        """The operation is checked now, and executed when a second person approves it."""
        return self._connection.fetch(
            Approval, Call(method="POST", path=PATH, body=request, key=key)
        )

    def approve(self, approval_id: str, review_hash: str, *, key: str | None = None) -> Approval:
        """Execute the operation, if it still sees what was reviewed."""
        return self._decide("/approve", approval_id, key, {"review_hash": review_hash})

    def reject(self, approval_id: str, reason: str, *, key: str | None = None) -> Approval:
        return self._decide("/reject", approval_id, key, {"reason": reason})

    def withdraw(self, approval_id: str, *, key: str | None = None) -> Approval:
        """Only the requester can do this."""
        return self._decide("/withdraw", approval_id, key)

    def _decide(
        self, below: str, approval_id: str, key: str | None, body: Mapping[str, str] | None = None
    ) -> Approval:
        ids = {"approval_id": approval_id}
        call = Call(method="POST", path=APPROVAL_PATH + below, ids=ids, body=body, key=key)
        return self._connection.fetch(Approval, call)
