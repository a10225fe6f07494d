"""Every changing request writes one audit row, other requests write none, no row holds a secret."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.database.embedded_postgres import Address
from nimbill.foundation.exact_json import DEPTH_MAX
from nimbill.http.routing import AUDITED_BYTES_MAX, SECRET_FIELDS
from tests.customers.billing_groups.sample_bodies import REQUIRED_FIELDS, VALID_SETTING
from tests.problem_responses import CANARY
from tests.running_service import Service
from tests.temporary_database import execute_sql

GROUPS = "/m/core/billinggroup"
USERS = "/m/u/users"
SUBUSER = {"username": "hanako", "password": "canary-7c1f", "notification": {"email": "false"}}


def list_rows(service: Service) -> list[dict[str, Any]]:
    """List newest first, without the row about the organisation itself."""
    listed: list[dict[str, Any]] = service.http.get("/m/core/audit", headers=service.root()).json()
    return listed[:-1]


def test_a_change_writes_one_row_with_its_request_id(service: Service) -> None:
    responses = [
        service.http.post(
            GROUPS, json=REQUIRED_FIELDS | {"billinggroup_id": str(number)}, headers=service.root()
        )
        for number in range(3)
    ]

    request_ids = [row["request_id"] for row in reversed(list_rows(service))]

    assert request_ids == [response.headers["x-request-id"] for response in responses]


def test_reads_write_no_row(service: Service) -> None:
    for path in (GROUPS, "/m/core/audit", f"{GROUPS}/none/resource", "/healthz", "/openapi.json"):
        service.http.get(path, headers=service.root())

    assert list_rows(service) == []


def test_refused_requests_write_no_row(service: Service) -> None:
    root, json_type = service.root(), {"Content-Type": "application/json"}
    service.http.post(GROUPS, json=REQUIRED_FIELDS, headers=root)
    invalid_body = REQUIRED_FIELDS | {"invoices": {"aws": VALID_SETTING | {"currency": "eur"}}}

    refusals = [
        service.http.post(GROUPS, json=REQUIRED_FIELDS, headers=root),
        service.http.post(GROUPS, json=invalid_body, headers=root),
        service.http.post(GROUPS, json=REQUIRED_FIELDS),
        service.http.post(GROUPS, json=REQUIRED_FIELDS, headers=service.caller()),
        service.http.post(GROUPS, content=b"{", headers=root | json_type),
        service.http.post(GROUPS, content=b"a", headers=root),
        service.http.delete(GROUPS, headers=root),
        service.http.post(
            GROUPS,
            json=REQUIRED_FIELDS,
            headers=service.caller(RoleAction.ModifyBillingGroup, billing_groups=["cmp_x"]),
        ),
    ]

    assert [response.status_code for response in refusals] == [
        409,
        400,
        401,
        403,
        400,
        415,
        405,
        403,
    ]
    assert len(list_rows(service)) == 1


def test_a_replayed_request_writes_no_row(service: Service) -> None:
    key = service.root() | {"Idempotency-Key": "key-1"}

    for _ in range(3):
        assert service.http.post(GROUPS, json=REQUIRED_FIELDS, headers=key).status_code == 200

    assert len(list_rows(service)) == 1


def test_issuing_a_token_writes_no_row(service: Service) -> None:
    form = {
        "grant_type": "client_credentials",
        "client_id": service.organisation.client_id,
        "client_secret": service.organisation.client_secret,
    }

    assert service.http.post("/core/access_token", data=form).status_code == 200

    assert list_rows(service) == []


def test_a_change_is_rolled_back_if_its_row_cannot_be_written(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise ConnectionError

    with monkeypatch.context() as broken:
        broken.setattr("nimbill.audit.records.append_entry", fail)
        assert service.http.post(GROUPS, json=REQUIRED_FIELDS, headers=service.root()).is_error

    assert service.http.get(GROUPS, headers=service.root()).json() == []
    assert list_rows(service) == []


def test_a_password_is_never_stored(service: Service, superuser: Address) -> None:
    response = service.http.post(USERS, json=SUBUSER, headers=service.root())
    assert response.status_code == 200, response.text

    (row,) = list_rows(service)

    assert row["sent"] == SUBUSER | {"password": "***"}
    for table in ("audit_log", "users", "jobs", "idempotency_keys"):
        stored = execute_sql(
            superuser,
            f"SELECT t::text AS words FROM {table} t WHERE organisation_id = $1",
            service.organisation.organisation_id,
        )
        assert CANARY not in "".join(row["words"] for row in stored), table


def test_secret_fields_are_masked_at_any_depth(service: Service) -> None:
    secrets: dict[str, Any] = dict.fromkeys(sorted(SECRET_FIELDS), CANARY)
    body = REQUIRED_FIELDS | secrets | {"extra": [{"deeper": secrets | {"kept": 1}}]}

    assert service.http.post(GROUPS, json=body, headers=service.root()).status_code == 200

    (row,) = list_rows(service)
    masked = dict.fromkeys(secrets, "***")
    assert row["sent"] == REQUIRED_FIELDS | masked | {"extra": [{"deeper": masked | {"kept": 1}}]}
    assert CANARY not in json.dumps(row)


def test_a_secret_that_is_not_a_string_is_masked_as_a_whole(service: Service) -> None:
    body = REQUIRED_FIELDS | {"password": {"a": [CANARY]}}

    service.http.post(GROUPS, json=body, headers=service.root())

    (row,) = list_rows(service)
    assert row["sent"]["password"] == "***"


def test_a_long_body_is_recorded_by_its_size(service: Service) -> None:
    body = REQUIRED_FIELDS | {"unknown": "長" * AUDITED_BYTES_MAX}

    assert service.http.post(GROUPS, json=body, headers=service.root()).status_code == 200

    (row,) = list_rows(service)
    assert list(row["sent"]) == ["bytes"]
    assert row["sent"]["bytes"] > AUDITED_BYTES_MAX


def test_the_deepest_body_and_the_smallest_number_are_recorded(service: Service) -> None:
    deep = "[" * (DEPTH_MAX - 1) + "]" * (DEPTH_MAX - 1)
    small = "0.00000000000000000000000000001"
    raw = json.dumps(REQUIRED_FIELDS)[:-1] + f', "deep": {deep}, "small": {small}}}'
    headers = service.root() | {"Content-Type": "application/json"}

    assert service.http.post(GROUPS, content=raw, headers=headers).status_code == 200

    (row,) = list_rows(service)
    assert row["sent"] == json.loads(raw)
