"""A repeat with the same Idempotency-Key receives the first response and changes nothing."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.caller import Caller
from nimbill.access.role_actions import RoleAction
from nimbill.database.embedded_postgres import Address
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.product import Product
from nimbill.foundation.user_kind import UserKind
from nimbill.http.idempotency import (
    delete_old_keys,
    hash_request,
    idempotency_keys,
    reserve_key,
)
from tests.customers.billing_groups.sample_bodies import REQUIRED_FIELDS, VALID_SETTING
from tests.held_locks import call_while_locked
from tests.problem_responses import CANARY, read_problem, read_violations
from tests.running_service import Service
from tests.temporary_database import execute_sql

GROUPS = "/m/core/billinggroup"
JSON = {"Content-Type": "application/json"}


def post(
    service: Service,
    key: str,
    body: Any = REQUIRED_FIELDS,
    headers: dict[str, str] | None = None,
    path: str = GROUPS,
) -> Any:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = (headers or service.root()) | JSON | {"Idempotency-Key": key}
    return service.http.post(path, content=content, headers=sent)


def list_group_ids(service: Service) -> list[str]:
    listed = service.http.get(GROUPS, headers=service.root()).json()
    return [record["billinggroup_id"] for record in listed]


def count_changes(service: Service) -> int:
    """Count audit rows without the first, which is about the organisation itself."""
    return len(service.http.get("/m/core/audit", headers=service.root()).json()) - 1


def list_stored_keys(service: Service, superuser: Address) -> list[Any]:
    return execute_sql(
        superuser,
        "SELECT * FROM idempotency_keys WHERE organisation_id = $1",
        service.organisation.organisation_id,
    )


def test_a_repeat_receives_the_same_bytes_and_changes_nothing(service: Service) -> None:
    first = post(service, "key-1")

    for _ in range(3):
        repeat = post(service, "key-1")
        assert (repeat.status_code, repeat.content) == (200, first.content)
        assert repeat.headers["content-type"] == first.headers["content-type"]
        assert repeat.headers["idempotent-replayed"] == "true"

    assert "idempotent-replayed" not in first.headers
    assert list_group_ids(service) == ["BG-0001"]
    assert count_changes(service) == 1


def test_key_order_and_whitespace_do_not_matter(service: Service) -> None:
    body = REQUIRED_FIELDS | {"invoices": {"aws": VALID_SETTING}}
    reversed_fields = dict(reversed([*REQUIRED_FIELDS.items()]))
    setting = dict(reversed([*VALID_SETTING.items()]))
    first = post(service, "key-1", body)

    repeat = post(
        service,
        "key-1",
        json.dumps({"invoices": {"aws": setting}} | reversed_fields, indent=3).encode(),
    )

    assert (repeat.status_code, repeat.content) == (200, first.content)


@pytest.mark.parametrize(
    "changed",
    [
        REQUIRED_FIELDS | {"billinggroup_id": "BG-0002"},
        REQUIRED_FIELDS | {"inv_aggregate": False},
        REQUIRED_FIELDS | {"extra": 1},
        REQUIRED_FIELDS | {"phone": None},
        {},
        [],
    ],
)
def test_the_same_key_with_another_body_is_409(service: Service, changed: Any) -> None:
    post(service, "key-1")

    response = post(service, "key-1", changed)

    assert read_problem(response, 409)["code"] == "idempotency_key_reused"
    assert list_group_ids(service) == ["BG-0001"]


@pytest.mark.parametrize("path", [f"{GROUPS}?a=1", "/m/u/users", "/m/auth/rbac/roles"])
def test_the_same_key_on_another_path_is_409(service: Service, path: str) -> None:
    post(service, "key-1")

    response = post(service, "key-1", path=path)

    assert read_problem(response, 409)["code"] == "idempotency_key_reused"


def test_a_key_of_a_request_that_is_running_is_409(service: Service) -> None:
    organisation = service.organisation

    async def reserve(db: AsyncConnection, scope: TenantScope) -> None:
        caller = Caller(
            user_id=organisation.root_user_id,
            username=organisation.username,
            kind=UserKind.root,
            root_user=organisation.root_user_id,
            client_id=organisation.client_id,
            subject_type="client",
            product=Product.core,
            permissions=frozenset(),
            scope=scope,
            epoch=1,
        )
        await reserve_key(db, caller, service.resources.encryptor, "key-1", b"hash")

    outcome = call_while_locked(service, reserve, lambda: post(service, "key-1"))

    assert not outcome.waited
    assert read_problem(outcome.result, 409)["code"] == "idempotency_key_in_use"
    assert list_group_ids(service) == []


def test_concurrent_requests_with_one_key_have_one_effect(service: Service) -> None:
    headers, callers = service.root(), 8
    barrier = Barrier(callers)

    def attempt(key: str) -> tuple[int, str]:
        barrier.wait()
        response = post(service, key, REQUIRED_FIELDS | {"billinggroup_id": key}, headers)
        code = "" if response.status_code == 200 else response.json()["code"]
        return response.status_code, code or response.text

    with ThreadPoolExecutor(callers) as pool:
        for number in range(5):
            responses = set(pool.map(attempt, [f"key-{number}"] * callers))
            responses.discard((409, "idempotency_key_in_use"))
            ((status, _),) = responses
            assert status == 200

    assert len(list_group_ids(service)) == count_changes(service) == 5


def test_a_refused_request_does_not_use_its_key(service: Service) -> None:
    assert post(service, "key-1", {"billinggroup_id": "x"}).status_code == 400
    assert post(service, "key-1", b"{").status_code == 400

    assert post(service, "key-1").status_code == 200
    assert post(service, "key-2").status_code == 409

    again = post(service, "key-2", REQUIRED_FIELDS | {"billinggroup_id": "BG-0002"})
    assert again.status_code == 200


def test_two_users_may_use_the_same_key(service: Service) -> None:
    first, second = (service.caller(RoleAction.ModifyBillingGroup) for _ in range(2))
    foreign = service.root(service.new_organisation())

    responses = [
        post(service, "key-1", REQUIRED_FIELDS | {"billinggroup_id": str(number)}, headers)
        for number, headers in enumerate((first, second, foreign))
    ]

    assert [response.status_code for response in responses] == [200, 200, 200]
    assert len({response.json()["company_id"] for response in responses}) == 3


def test_a_user_never_receives_the_response_of_another(service: Service) -> None:
    post(service, "key-1", headers=service.caller(RoleAction.ModifyBillingGroup))

    response = post(service, "key-1", headers=service.caller(RoleAction.ModifyBillingGroup))

    assert read_problem(response, 409)["code"] == "billinggroup_id_taken"


def test_a_caller_without_permission_receives_no_stored_response(service: Service) -> None:
    post(service, "key-1")

    response = post(service, "key-1", headers=service.caller(RoleAction.ReadBillingGroup))

    read_problem(response, 403)


@pytest.mark.parametrize("key", ["", " ", "a b", "a" * 256, "clé", "名", f"{CANARY}\x7f", "a\tb"])
def test_an_invalid_key_is_400(service: Service, key: str) -> None:
    sent = service.root() | JSON
    headers = [*sent.items(), ("Idempotency-Key", key.encode())]

    response = service.http.post(GROUPS, content=json.dumps(REQUIRED_FIELDS), headers=headers)  # type: ignore[arg-type]

    assert read_violations(response) == [("Idempotency-Key", "1 to 255 printable ASCII characters")]
    assert list_group_ids(service) == []


@pytest.mark.parametrize("key", ["a", "~" * 255, '!"#$%&', "8e03978e-40d5-43dd-bc93-6894a57f9324"])
def test_any_printable_key_is_accepted(service: Service, key: str) -> None:
    first = post(service, key)

    assert first.status_code == 200
    assert post(service, key).content == first.content


def test_reads_and_token_requests_ignore_the_key(service: Service, superuser: Address) -> None:
    key = {"Idempotency-Key": "key-1"}
    form = {
        "grant_type": "client_credentials",
        "client_id": service.organisation.client_id,
        "client_secret": service.organisation.client_secret,
    }

    read = service.http.get(GROUPS, headers=service.root() | key)
    tokens = [service.http.post("/core/access_token", data=form, headers=key) for _ in range(2)]

    assert read.status_code == 200
    assert [token.status_code for token in tokens] == [200, 200]
    assert tokens[0].json()["access_token"] != tokens[1].json()["access_token"]
    assert list_stored_keys(service, superuser) == []


def test_stored_responses_are_encrypted(service: Service, superuser: Address) -> None:
    response = post(service, "key-1", REQUIRED_FIELDS | {"remarks": CANARY})

    (row,) = list_stored_keys(service, superuser)

    assert (row["key"], row["status"]) == ("key-1", 200)
    stored = repr(dict(row))
    assert response.json()["company_id"] not in stored
    assert "success" not in stored
    assert CANARY not in stored


def test_a_response_moved_to_another_key_is_not_returned(
    service: Service, superuser: Address
) -> None:
    post(service, "key-1")
    other = post(service, "key-2", REQUIRED_FIELDS | {"billinggroup_id": "BG-0002"})
    execute_sql(
        superuser,
        "UPDATE idempotency_keys a SET encrypted_response = b.encrypted_response"
        " FROM idempotency_keys b"
        " WHERE a.organisation_id = $1 AND b.organisation_id = $1"
        " AND a.key = 'key-1' AND b.key = 'key-2'",
        service.organisation.organisation_id,
    )

    response = post(service, "key-1")

    assert response.status_code == 500  # only tampering with the database causes this
    assert other.json()["company_id"] not in response.text


def test_keys_are_stored_for_eight_days_and_then_deleted(service: Service) -> None:
    organisation_id = service.organisation.organisation_id

    async def count_deleted(*ages: timedelta) -> int:
        """The time of the database stands still during a transaction."""
        async with transaction(service.resources.engine, organisation_id) as db:
            for number, age in enumerate(ages):
                created = sa.func.now() - sa.bindparam("age", age, sa.Interval)
                stmt = sa.insert(idempotency_keys).values(
                    organisation_id=organisation_id,
                    user_id=service.organisation.root_user_id,
                    key=f"key-{number}",
                    fingerprint=b"f",
                    status=200,
                    encrypted_response=b"r",
                    create_time=created,
                )
                await db.execute(stmt)
            return await delete_old_keys(db, TenantScope(organisation_id))

    eight_days = timedelta(days=8)
    ages = (eight_days, eight_days + timedelta(microseconds=1), timedelta(days=300))
    assert service.run(lambda: count_deleted(*ages)) == 2


def test_a_failure_before_the_commit_stores_nothing(
    service: Service, superuser: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise ConnectionError

    with monkeypatch.context() as broken:
        broken.setattr("nimbill.audit.records.append_entry", fail)
        assert post(service, "key-1").status_code == 503
    assert list_group_ids(service) == []
    assert list_stored_keys(service, superuser) == []

    assert post(service, "key-1").status_code == 200
    assert list_group_ids(service) == ["BG-0001"]


def test_different_requests_have_different_hashes() -> None:
    body, json_type = json.dumps(REQUIRED_FIELDS).encode(), "application/json"
    hashes = {
        hash_request("POST", "/a", b"", json_type, body),
        hash_request("PUT", "/a", b"", json_type, body),
        hash_request("POST", "/b", b"", json_type, body),
        hash_request("POST", "/a", b"x=1", json_type, body),
        hash_request("POST", "/a", b"", json_type, b"{}"),
        hash_request("POST", "/a", b"", json_type, b""),
        hash_request("POST", "/a", b"", "text/plain", b" {}"),
        hash_request("POST", "/a", b"", "text/plain", b"{} "),
    }

    assert len(hashes) == 8
