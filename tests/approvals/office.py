"""An organisation with a clerk and approvers, and the requests of approvals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from nimbill.access.role_actions import RoleAction
from nimbill.foundation import exact_json
from tests.problem_responses import HttpResponse, read_problem
from tests.running_service import Service
from tests.subusers import SubuserAccount, create_subuser

CORE = "/m/core"
JSON = {"Content-Type": "application/json"}
CLERK = (
    RoleAction.ModifyInvoice,
    RoleAction.ModifyCost,
    RoleAction.ModifySettings,
    RoleAction.ModifyBillingGroup,
    RoleAction.ModifyAccount,
    RoleAction.ReadAudit,
)
EMPTY_MONTH = "2025-03"
CLOSING = {"vendor": "aws", "override": True, "reason": "nothing was used"}
CLOSE: dict[str, Any] = {
    "kind": "month_close",
    "target": {"month": EMPTY_MONTH},
    "body": CLOSING,
}


@dataclass
class Office:
    """The clerk may do every operation; the approver may approve and nothing else."""

    service: Service
    clerk: SubuserAccount = field(init=False)
    approver: SubuserAccount = field(init=False)

    def __post_init__(self) -> None:
        self.clerk = create_subuser(self.service, CLERK)
        self.approver = create_subuser(self.service, [RoleAction.ApproveRequests])

    def send(self, method: str, path: str, body: Any = None, headers: Any = None) -> HttpResponse:
        return self.service.http.request(
            method,
            CORE + path,
            content=None if body is None else exact_json.encode(body),
            headers=JSON | (headers or self.clerk.core),
        )

    def succeed(self, method: str, path: str, body: Any = None, headers: Any = None) -> Any:
        response = self.send(method, path, body, headers)
        assert response.status_code in (200, 201, 202), response.text
        return exact_json.decode_stored(response.text)

    def require(self, *kinds: str) -> None:
        """Requires approval of these kinds. Works once, because a change needs an approval."""
        self.succeed("PUT", "/settings", {"approval_required": list(kinds)})

    def request(self, body: Any, headers: Any = None) -> Any:
        return self.succeed("POST", "/approvals", body, headers)

    def read(self, approval_id: str, headers: Any = None) -> Any:
        return self.succeed("GET", f"/approvals/{approval_id}", headers=headers)

    def approve(self, request: Any, headers: Any = None) -> HttpResponse:
        return self.send(
            "POST",
            f"/approvals/{request['approval_id']}/approve",
            {"review_hash": request["review_hash"]},
            headers or self.approver.core,
        )

    def reject(self, request: Any, headers: Any = None) -> HttpResponse:
        path = f"/approvals/{request['approval_id']}/reject"
        return self.send("POST", path, {"reason": "not yet"}, headers or self.approver.core)

    def withdraw(self, request: Any, headers: Any = None) -> HttpResponse:
        path = f"/approvals/{request['approval_id']}/withdraw"
        return self.send("POST", path, headers=headers)

    def list_audit(self, resource: str) -> list[dict[str, Any]]:
        """Newest first."""
        return [
            row
            for row in self.succeed("GET", "/audit", headers=self.service.root())
            if row["resource"] == resource
        ]

    def is_closed(self, month: str = EMPTY_MONTH) -> bool:
        status = self.succeed("GET", f"/months/{month}?vendor=aws")
        return bool(status["state"] == "closed")


def read_code(response: HttpResponse, status: int = 409) -> str:
    code: str = read_problem(response, status)["code"]
    return code
