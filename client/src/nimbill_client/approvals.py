"""Approvals: operations that wait for a second person."""

from collections.abc import Iterator, Mapping

from nimbill_client.bodies import Approval, ApprovalRequestBody, ShortApproval
from nimbill_client.connection import Call, Connection
from nimbill_client.pages import iterate_pages

PATH = "/m/core/approvals"
APPROVAL_PATH = "/m/core/approvals/{approval_id}"


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
