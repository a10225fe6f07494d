"""Every changing route writes its audit row and answers a repeat with the same key from storage.

Both are tested from the declaration of the route, with a request that succeeds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from string import Formatter
from typing import Any

import httpx
import pytest

from nimbill.access.gate import Unaudited
from nimbill.database.embedded_postgres import Address
from nimbill.foundation import exact_json
from nimbill.http.routing import SECRET_FIELDS
from tests.contract.declared_routes import Route, all_routes, protected_routes
from tests.contract.route_requests import (
    RouteRequest,
    build_valid_request,
    root_headers,
    send_request,
)
from tests.contract.superuser import Superuser, connect_superuser
from tests.contract.tenants import Tenant, new_tenant
from tests.problem_responses import read_problem
from tests.running_service import Service

CHANGING = [route for route in protected_routes() if route.is_mutating]
SIGN_OUTS = [route for route in CHANGING if route.operation.startswith("sign_out_of_")]
each_route = pytest.mark.parametrize("route", CHANGING, ids=str)

# routes that declare no row of their own, and the actions of the rows that their operation writes
ROWS_OF_OPERATION: dict[str, list[str]] = {
    "assign_accounts": ["assign_account"],  # one for each account
    "create_accounts_from_csv": ["create_account"],  # one for each record
    "create_billing_groups_from_csv": ["create_billing_group"],
    "create_contacts_from_csv": ["create_contact"],
    "record_payments_from_csv": ["record_payment"],
    "create_invoices": ["create_invoice", "create_invoices"],  # for each invoice and for the run
    "begin_second_factor": [],  # the completed registration writes the row
    "compare_templates": [],  # version 3
    "preview_invoice_template": [],
    "preview_sending": [],
    "preview_correction": [],
    "preview_terms": [],
    "send_invoices": ["send_invoice"],  # one for each invoice
    "mark_invoices_as_sent": ["mark_invoice_as_sent"],
}
# routes without a caller: issuing a token writes no row, and a repeat gets a token of its own
PUBLIC = {
    "issue_core_token",
    "issue_portal_token",
    "issue_legacy_token",  # version 3
    "sign_in_to_core",
    "sign_in_to_portal",
    "refresh_core_session",
    "refresh_portal_session",
    "request_core_password_link",
    "request_portal_password_link",
    "choose_core_password",  # its operation writes the row
    "choose_portal_password",
    "prove_factor_to_core",
    "prove_factor_to_portal",
    "begin_core_setup",
    "begin_portal_setup",
    "complete_core_setup",  # its operation writes the row
    "complete_portal_setup",
}
# what an operation adds to the body in its audit row
ADDED_TO_SENT = {"close_month": {"missing"}}
MASKED_FIELDS = SECRET_FIELDS | {"cred"}  # the credential of a template is a secret, too


@dataclass(frozen=True)
class SentRequest:
    """A successful request with an Idempotency-Key, and the audit rows that it wrote."""

    request: RouteRequest
    headers: dict[str, str]
    response: httpx.Response
    audit_rows: list[dict[str, Any]]


@pytest.fixture(scope="module")
def tenant(running: Service, superuser: Address) -> Iterator[Tenant]:
    with connect_superuser(running, superuser) as connection:
        yield new_tenant(running, connection, "kanari")


@pytest.fixture(scope="module")
def sent_requests() -> dict[Route, SentRequest]:
    return {}


@pytest.fixture
def sent(tenant: Tenant, route: Route, sent_requests: dict[Route, SentRequest]) -> SentRequest:
    """The request of the route; it is sent once for all tests."""
    if route.session_only:
        for other in SIGN_OUTS:  # first, because they end every session of the caller
            send_once(tenant, other, sent_requests)
    return send_once(tenant, route, sent_requests)


def send_once(tenant: Tenant, route: Route, sent_requests: dict[Route, SentRequest]) -> SentRequest:
    if route not in sent_requests:
        request = build_valid_request(route, tenant)
        key = {"Idempotency-Key": f"key of {route.operation}".replace(" ", "-")}
        headers = root_headers(tenant, route, route.products[0]) | key
        response = send_request(tenant, route, request, headers)
        assert response.is_success, response.text
        rows = list_audit_rows(tenant.superuser, tenant, response.headers["x-request-id"])
        sent_requests[route] = SentRequest(request, headers, response, rows)
    return sent_requests[route]


def list_audit_rows(db: Superuser, tenant: Tenant, request_id: str) -> list[dict[str, Any]]:
    """The rows of one request, oldest first."""
    rows = db.sql(
        "SELECT entry FROM audit_log WHERE organisation_id = $1"
        " AND entry::json->>'request_id' = $2 ORDER BY seq",
        tenant.organisation_id,
        request_id,
    )
    return [exact_json.decode(row["entry"].encode()) for row in rows]


# ── audit rows ───────────────────────────────────────────────────────────────────────────────────


def is_unaudited(route: Route) -> bool:
    return isinstance(route.handler.opt["audited"], Unaudited)


def test_exactly_these_changing_routes_declare_no_audit_row() -> None:
    unaudited = {route.operation for route in CHANGING if is_unaudited(route)}
    public = {route.operation for route in all_routes() if route.is_mutating and route.is_public}

    assert unaudited == ROWS_OF_OPERATION.keys()
    assert public == PUBLIC
    assert len(CHANGING) > 60
    assert len(SIGN_OUTS) == 2


def list_own_rows(route: Route, sent: SentRequest) -> list[dict[str, Any]]:
    """Approving writes the usual row of the operation first; its actor is the requester."""
    return sent.audit_rows[-1:] if route.operation == "approve_request" else sent.audit_rows


@each_route
def test_a_change_writes_its_audit_row(tenant: Tenant, route: Route, sent: SentRequest) -> None:
    organisation = tenant.organisation

    rows = list_own_rows(route, sent)
    actions = [row["action"] for row in rows]
    assert actions == ROWS_OF_OPERATION.get(route.operation, [route.operation])
    for row in rows:
        assert row["actor"] == organisation.root_user_id
        assert row["actor_name"] == organisation.username
        assert route.session_only or row["client_id"] == organisation.client_id


@pytest.mark.parametrize("route", [route for route in CHANGING if not is_unaudited(route)], ids=str)
def test_an_audit_row_names_the_record_and_what_was_sent(route: Route, sent: SentRequest) -> None:
    (row,) = list_own_rows(route, sent)

    assert re.fullmatch(resource_pattern(route, sent.request), row["resource"])
    if isinstance(sent.request.body, dict):
        added = ADDED_TO_SENT.get(route.operation, set())
        body = {name: value for name, value in row["sent"].items() if name not in added}
        assert row["sent"].keys() - body.keys() == added
        assert body == mask_secrets(exact_json.decode(json.dumps(sent.request.body).encode()))


def resource_pattern(route: Route, request: RouteRequest) -> str:
    """The declared resource with the values of the path; other values must not be empty."""
    parts = Formatter().parse(route.handler.opt["audited"])
    return "".join(
        re.escape(text) + (_value_pattern(name, request) if name else "")
        for text, name, _, _ in parts
    )


def _value_pattern(name: str, request: RouteRequest) -> str:
    if name in request.path:
        return "/?" + re.escape(request.path[name])  # the rest of a path begins with a slash
    return r"(?!None)[^/{}]+"


def mask_secrets(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: "***" if name in MASKED_FIELDS else mask_secrets(item)
            for name, item in value.items()
        }
    return [mask_secrets(item) for item in value] if isinstance(value, list) else value


# ── idempotency keys ─────────────────────────────────────────────────────────────────────────────


@each_route
def test_a_repeat_with_the_same_key_answers_the_same_and_changes_nothing(
    tenant: Tenant, route: Route, sent: SentRequest
) -> None:
    before = tenant.superuser.digest(tenant.organisation_id)

    repeat = send_request(tenant, route, sent.request, sent.headers)

    assert (repeat.status_code, repeat.content) == (
        sent.response.status_code,
        sent.response.content,
    )
    assert repeat.headers["idempotent-replayed"] == "true"
    assert tenant.superuser.digest(tenant.organisation_id) == before


@each_route
def test_another_request_with_the_same_key_is_refused(
    tenant: Tenant, route: Route, sent: SentRequest
) -> None:
    before = tenant.superuser.digest(tenant.organisation_id)

    response = send_request(tenant, route, change_request(sent.request), sent.headers)

    assert read_problem(response, 409)["code"] == "idempotency_key_reused"
    assert tenant.superuser.digest(tenant.organisation_id) == before


def change_request(request: RouteRequest) -> RouteRequest:
    """The same request with another body or, without a body, with another query."""
    match request.body:
        case dict():
            return replace(request, body=request.body | {"another": "field"})
        case str():
            return replace(request, body=request.body + "\n")
    return replace(request, query=request.query | {"another": "parameter"})
