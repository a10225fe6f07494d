"""Endpoints are created, listed, changed and deleted by those who may change settings."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from nimbill.access.role_actions import RoleAction
from nimbill.webhooks.operations import ENDPOINTS_MAX
from nimbill.webhooks.records import webhook_endpoints
from tests.customers.billing_groups.billing_groups import create_billing_group
from tests.held_locks import in_transaction
from tests.problem_responses import read_problem
from tests.running_service import Service
from tests.webhooks.endpoints import call, create_endpoint, send

URL = "https://example.com/hooks"


def test_an_endpoint_is_created_and_shown_without_its_secret(service: Service) -> None:
    created = create_endpoint(service, URL, description="Accounting", event_types=["month.closed"])

    assert created["secret"].startswith("whsec_")
    shown = call(service, "GET", f"/{created['endpoint_id']}")
    assert call(service, "GET") == [shown]
    assert "secret" not in shown
    assert {name: shown[name] for name in ("url", "description", "event_types", "enabled")} == {
        "url": URL,
        "description": "Accounting",
        "event_types": ["month.closed"],
        "enabled": True,
    }


def test_the_secret_is_stored_encrypted(service: Service) -> None:
    secret = create_endpoint(service, URL)["secret"]

    rows = in_transaction(service, lambda db, _scope: db.execute(sa.select(webhook_endpoints)))()

    (row,) = rows.all()
    assert secret.encode() not in row.encrypted_secret
    assert len(row.encrypted_secret) > len(secret)


def test_a_request_with_the_same_idempotency_key_returns_the_same_secret(service: Service) -> None:
    headers = service.root() | {"Idempotency-Key": "one"}

    first = send(service, "POST", "", {"url": URL}, headers).json()
    second = send(service, "POST", "", {"url": URL}, headers).json()

    assert first == second
    assert len(call(service, "GET")) == 1


def test_an_update_replaces_all_fields(service: Service) -> None:
    endpoint = create_endpoint(service, URL, description="a", event_types=["month.closed"])
    path = f"/{endpoint['endpoint_id']}"

    changed = call(service, "PUT", path, {"url": f"{URL}/2", "enabled": False})

    assert changed == call(service, "GET", path)
    assert (changed["url"], changed["description"]) == (f"{URL}/2", "")
    assert (changed["event_types"], changed["enabled"]) == ([], False)
    assert changed["disabled_reason"] is None


def test_a_deleted_endpoint_is_gone(service: Service) -> None:
    path = f"/{create_endpoint(service, URL)['endpoint_id']}"

    call(service, "DELETE", path)

    assert call(service, "GET") == []
    for method, below, body in (
        ("GET", "", None),
        ("PUT", "", {"url": URL}),
        ("DELETE", "", None),
        ("POST", "/secret", None),
        ("POST", "/test", None),
        ("GET", "/deliveries", None),
        ("POST", "/replay", {"since": "2026-01-01T00:00:00Z"}),
        ("POST", "/deliveries/whd_x/replay", None),
    ):
        read_problem(send(service, method, path + below, body), 404)


def test_the_number_of_endpoints_is_limited(service: Service) -> None:
    for _ in range(ENDPOINTS_MAX):
        create_endpoint(service, URL)

    problem = read_problem(send(service, "POST", "", {"url": URL}), 409)

    assert problem["code"] == "too_many_endpoints"
    assert len(call(service, "GET")) == ENDPOINTS_MAX == 20


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", "http://example.com/"),
        ("url", "https://127.0.0.1/"),
        ("url", "https://169.254.169.254/latest/meta-data"),
        ("url", "https://user:word@example.com/"),
        ("url", f"https://example.com/{'x' * 2000}"),
        ("description", "x" * 201),
        ("event_types[0]", ["webhook.test"]),
        ("event_types[1]", ["month.closed", "unknown"]),
        ("enabled", "yes"),
    ],
)
def test_invalid_values_are_refused(service: Service, field: str, value: Any) -> None:
    body = {"url": URL, field.partition("[")[0]: value}

    problem = read_problem(send(service, "POST", "", body), 400)

    assert [each["field"] for each in problem["violations"]] == [field]
    assert call(service, "GET") == []


def test_an_update_checks_the_url_too(service: Service) -> None:
    path = f"/{create_endpoint(service, URL)['endpoint_id']}"

    problem = read_problem(send(service, "PUT", path, {"url": "https://10.0.0.1/"}), 400)

    assert problem["violations"][0]["field"] == "url"
    assert call(service, "GET", path)["url"] == URL


def test_callers_restricted_to_billing_groups_neither_see_nor_manage_endpoints(
    service: Service,
) -> None:
    path = f"/{create_endpoint(service, URL)['endpoint_id']}"
    company_id = create_billing_group(service, service.root(), billinggroup_id="BG")
    headers = service.caller(RoleAction.ModifySettings, billing_groups=[company_id])

    assert send(service, "GET", "", headers=headers).json() == []
    read_problem(send(service, "GET", path, headers=headers), 404)
    read_problem(send(service, "GET", f"{path}/deliveries", headers=headers), 404)
    for method, place in (("POST", ""), ("PUT", path), ("DELETE", path), ("POST", f"{path}/test")):
        read_problem(send(service, method, place, {"url": URL}, headers), 403)
