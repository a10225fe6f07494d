"""Every call that changes something leaves one row, every other call none, and no row a secret."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.database.embedded_postgres import Address
from nimbill.foundation.exact_json import DEPTH_MAX
from nimbill.http.routing import AUDITED_BYTES_MAX, SECRET_FIELDS
from tests.answers import CANARY
from tests.customers.billing_groups.bodies import REQUIRED_FIELDS, SOUND_SETTING
from tests.own_database import sql
from tests.running_service import Service

GROUPS = "/m/core/billinggroup"
USERS = "/m/u/users"
SUBUSER = {"username": "hanako", "password": "canary-7c1f", "notification": {"email": "false"}}


def rows(service: Service) -> list[dict[str, Any]]:
    """Newest first, without the row that tells of the organisation itself."""
    listed: list[dict[str, Any]] = service.http.get("/m/core/audit", headers=service.root()).json()
    return listed[:-1]


def test_a_change_leaves_one_row_with_the_request_id_of_its_answer(service: Service) -> None:
    answers = [
        service.http.post(
            GROUPS, json=REQUIRED_FIELDS | {"billinggroup_id": str(number)}, headers=service.root()
        )
        for number in range(3)
    ]

    told = [row["request_id"] for row in reversed(rows(service))]

    assert told == [answer.headers["x-request-id"] for answer in answers]


def test_reads_leave_no_row(service: Service) -> None:
    for path in (GROUPS, "/m/core/audit", f"{GROUPS}/none/resource", "/healthz", "/openapi.json"):
        service.http.get(path, headers=service.root())

    assert rows(service) == []


def test_refused_calls_leave_no_row(service: Service) -> None:
    root, json_kind = service.root(), {"Content-Type": "application/json"}
    service.http.post(GROUPS, json=REQUIRED_FIELDS, headers=root)
    unsound = REQUIRED_FIELDS | {"invoices": {"aws": SOUND_SETTING | {"currency": "eur"}}}

    refusals = [
        service.http.post(GROUPS, json=REQUIRED_FIELDS, headers=root),
        service.http.post(GROUPS, json=unsound, headers=root),
        service.http.post(GROUPS, json=REQUIRED_FIELDS),
        service.http.post(GROUPS, json=REQUIRED_FIELDS, headers=service.caller()),
        service.http.post(GROUPS, content=b"{", headers=root | json_kind),
        service.http.post(GROUPS, content=b"a", headers=root),
        service.http.delete(GROUPS, headers=root),
        service.http.post(
            GROUPS,
            json=REQUIRED_FIELDS,
            headers=service.caller(RoleAction.ModifyBillingGroup, billing_groups=["cmp_x"]),
        ),
    ]

    assert [answer.status_code for answer in refusals] == [409, 400, 401, 403, 400, 415, 405, 403]
    assert len(rows(service)) == 1


def test_a_repeat_that_gets_the_first_answer_leaves_no_row(service: Service) -> None:
    key = service.root() | {"Idempotency-Key": "key-1"}

    for _ in range(3):
        assert service.http.post(GROUPS, json=REQUIRED_FIELDS, headers=key).status_code == 200

    assert len(rows(service)) == 1


def test_issuing_a_token_leaves_no_row(service: Service) -> None:
    form = {
        "grant_type": "client_credentials",
        "client_id": service.organisation.client_id,
        "client_secret": service.organisation.client_secret,
    }

    assert service.http.post("/core/access_token", data=form).status_code == 200

    assert rows(service) == []


def test_a_change_whose_row_cannot_be_written_is_not_made(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise ConnectionError

    with monkeypatch.context() as broken:
        broken.setattr("nimbill.audit.records.append", fail)
        assert service.http.post(GROUPS, json=REQUIRED_FIELDS, headers=service.root()).is_error

    assert service.http.get(GROUPS, headers=service.root()).json() == []
    assert rows(service) == []


def test_a_password_never_reaches_a_row(service: Service, superuser: Address) -> None:
    answer = service.http.post(USERS, json=SUBUSER, headers=service.root())
    assert answer.status_code == 200, answer.text

    (row,) = rows(service)

    assert row["sent"] == SUBUSER | {"password": "***"}
    for table in ("audit_log", "users", "work", "idempotency_keys"):
        stored = sql(
            superuser,
            f"SELECT t::text AS words FROM {table} t WHERE organisation_id = $1",
            service.organisation.organisation_id,
        )
        assert CANARY not in "".join(each["words"] for each in stored), table


def test_secret_fields_are_left_out_wherever_they_stand(service: Service) -> None:
    secrets: dict[str, Any] = dict.fromkeys(sorted(SECRET_FIELDS), CANARY)
    body = REQUIRED_FIELDS | secrets | {"extra": [{"deeper": secrets | {"kept": 1}}]}

    assert service.http.post(GROUPS, json=body, headers=service.root()).status_code == 200

    (row,) = rows(service)
    hidden = dict.fromkeys(secrets, "***")
    assert row["sent"] == REQUIRED_FIELDS | hidden | {"extra": [{"deeper": hidden | {"kept": 1}}]}
    assert CANARY not in json.dumps(row)


def test_a_secret_that_is_no_text_is_left_out_whole(service: Service) -> None:
    body = REQUIRED_FIELDS | {"password": {"a": [CANARY]}}

    service.http.post(GROUPS, json=body, headers=service.root())

    (row,) = rows(service)
    assert row["sent"]["password"] == "***"


def test_a_long_body_is_told_by_its_size(service: Service) -> None:
    body = REQUIRED_FIELDS | {"remarks": "長" * AUDITED_BYTES_MAX}

    assert service.http.post(GROUPS, json=body, headers=service.root()).status_code == 200

    (row,) = rows(service)
    assert list(row["sent"]) == ["bytes"]
    assert row["sent"]["bytes"] > AUDITED_BYTES_MAX


def test_the_deepest_body_and_the_smallest_number_are_told_in_full(service: Service) -> None:
    deep = "[" * (DEPTH_MAX - 1) + "]" * (DEPTH_MAX - 1)
    small = "0.00000000000000000000000000001"
    raw = json.dumps(REQUIRED_FIELDS)[:-1] + f', "deep": {deep}, "small": {small}}}'
    headers = service.root() | {"Content-Type": "application/json"}

    assert service.http.post(GROUPS, content=raw, headers=headers).status_code == 200

    (row,) = rows(service)
    assert row["sent"] == json.loads(raw)
