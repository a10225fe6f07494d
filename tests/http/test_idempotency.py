"""A repeat with the same Idempotency-Key gets the first answer, and the effect happens once."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from nimbill.access.role_actions import RoleAction
from nimbill.database.embedded_postgres import Address
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.http.idempotency import DAYS_KEPT, fingerprint, forget_old_keys
from tests.answers import CANARY, problem_of, violations_of
from tests.customers.billing_groups.bodies import REQUIRED_FIELDS, SOUND_SETTING
from tests.own_database import sql
from tests.running_service import Service

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


def groups(service: Service) -> list[str]:
    listed = service.http.get(GROUPS, headers=service.root()).json()
    return [record["billinggroup_id"] for record in listed]


def changes(service: Service) -> int:
    """Rows of the audit log, but for the first, which tells of the organisation itself."""
    return len(service.http.get("/m/core/audit", headers=service.root()).json()) - 1


def kept(service: Service, superuser: Address) -> list[Any]:
    return sql(
        superuser,
        "SELECT * FROM idempotency_keys WHERE organisation_id = $1",
        service.organisation.organisation_id,
    )


def test_a_repeat_gets_the_same_bytes_and_changes_nothing(service: Service) -> None:
    first = post(service, "key-1")

    for _ in range(3):
        repeat = post(service, "key-1")
        assert (repeat.status_code, repeat.content) == (200, first.content)
        assert repeat.headers["content-type"] == first.headers["content-type"]
        assert repeat.headers["idempotent-replayed"] == "true"

    assert "idempotent-replayed" not in first.headers
    assert groups(service) == ["BG-0001"]
    assert changes(service) == 1


def test_the_order_of_keys_and_idle_space_make_no_other_request(service: Service) -> None:
    body = REQUIRED_FIELDS | {"invoices": {"aws": SOUND_SETTING}}
    backwards = dict(reversed([*REQUIRED_FIELDS.items()]))
    setting = dict(reversed([*SOUND_SETTING.items()]))
    first = post(service, "key-1", body)

    repeat = post(
        service,
        "key-1",
        json.dumps({"invoices": {"aws": setting}} | backwards, indent=3).encode(),
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

    answer = post(service, "key-1", changed)

    assert problem_of(answer, 409)["code"] == "idempotency_key_reused"
    assert groups(service) == ["BG-0001"]


@pytest.mark.parametrize("path", [f"{GROUPS}?a=1", "/m/u/users", "/m/auth/rbac/roles"])
def test_the_same_key_on_another_path_is_409(service: Service, path: str) -> None:
    post(service, "key-1")

    answer = post(service, "key-1", path=path)

    assert problem_of(answer, 409)["code"] == "idempotency_key_reused"


def test_of_many_with_one_key_at_once_one_has_an_effect(service: Service) -> None:
    headers, callers = service.root(), 8
    barrier = Barrier(callers)

    def attempt(key: str) -> tuple[int, str]:
        barrier.wait()
        answer = post(service, key, REQUIRED_FIELDS | {"billinggroup_id": key}, headers)
        told = "" if answer.status_code == 200 else answer.json()["code"]
        return answer.status_code, told or answer.text

    with ThreadPoolExecutor(callers) as pool:
        for number in range(5):
            answers = set(pool.map(attempt, [f"key-{number}"] * callers))
            answers.discard((409, "idempotency_key_in_use"))
            ((status, _),) = answers
            assert status == 200

    assert len(groups(service)) == changes(service) == 5


def test_a_refused_call_leaves_its_key_free(service: Service) -> None:
    assert post(service, "key-1", {"billinggroup_id": "x"}).status_code == 400
    assert post(service, "key-1", b"{").status_code == 400

    assert post(service, "key-1").status_code == 200
    assert post(service, "key-2").status_code == 409

    again = post(service, "key-2", REQUIRED_FIELDS | {"billinggroup_id": "BG-0002"})
    assert again.status_code == 200


def test_two_users_may_use_the_same_key(service: Service) -> None:
    one, other = (service.caller(RoleAction.ModifyBillingGroup) for _ in range(2))
    theirs = service.root(service.new_organisation())

    answers = [
        post(service, "key-1", REQUIRED_FIELDS | {"billinggroup_id": str(number)}, headers)
        for number, headers in enumerate((one, other, theirs))
    ]

    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert len({answer.json()["company_id"] for answer in answers}) == 3


def test_the_answer_of_one_user_is_not_given_to_another(service: Service) -> None:
    post(service, "key-1", headers=service.caller(RoleAction.ModifyBillingGroup))

    answer = post(service, "key-1", headers=service.caller(RoleAction.ModifyBillingGroup))

    assert problem_of(answer, 409)["code"] == "billinggroup_id_taken"


def test_who_may_no_longer_make_the_call_gets_no_answer_back(service: Service) -> None:
    post(service, "key-1")

    answer = post(service, "key-1", headers=service.caller(RoleAction.ReadBillingGroup))

    problem_of(answer, 403)


@pytest.mark.parametrize("key", ["", " ", "a b", "a" * 256, "clé", "名", f"{CANARY}\x7f", "a\tb"])
def test_a_key_that_is_none_is_400(service: Service, key: str) -> None:
    sent = service.root() | JSON
    headers = [*sent.items(), ("Idempotency-Key", key.encode())]

    answer = service.http.post(GROUPS, content=json.dumps(REQUIRED_FIELDS), headers=headers)  # type: ignore[arg-type]

    assert violations_of(answer) == [("Idempotency-Key", "1 to 255 printable ASCII characters")]
    assert groups(service) == []


@pytest.mark.parametrize("key", ["a", "~" * 255, '!"#$%&', "8e03978e-40d5-43dd-bc93-6894a57f9324"])
def test_any_printable_key_is_taken(service: Service, key: str) -> None:
    first = post(service, key)

    assert first.status_code == 200
    assert post(service, key).content == first.content


def test_reads_and_tokens_take_no_key(service: Service, superuser: Address) -> None:
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
    assert kept(service, superuser) == []


def test_kept_answers_are_sealed_and_keep_no_body(service: Service, superuser: Address) -> None:
    answer = post(service, "key-1", REQUIRED_FIELDS | {"remarks": CANARY})

    (row,) = kept(service, superuser)

    assert (row["key"], row["status"]) == ("key-1", 200)
    stored = repr(dict(row))
    assert answer.json()["company_id"] not in stored
    assert "success" not in stored
    assert CANARY not in stored


def test_a_sealed_answer_moved_to_another_key_is_never_shown(
    service: Service, superuser: Address
) -> None:
    post(service, "key-1")
    other = post(service, "key-2", REQUIRED_FIELDS | {"billinggroup_id": "BG-0002"})
    sql(
        superuser,
        "UPDATE idempotency_keys a SET sealed_answer = b.sealed_answer FROM idempotency_keys b"
        " WHERE a.organisation_id = $1 AND b.organisation_id = $1"
        " AND a.key = 'key-1' AND b.key = 'key-2'",
        service.organisation.organisation_id,
    )

    answer = post(service, "key-1")

    assert answer.status_code == 500  # nobody's request does this: the database was tampered with
    assert other.json()["company_id"] not in answer.text


@pytest.mark.parametrize(("days", "forgotten"), [(DAYS_KEPT - 1, 0), (DAYS_KEPT + 1, 1)])
def test_keys_are_kept_a_week_and_then_forgotten(
    service: Service, superuser: Address, days: int, forgotten: int
) -> None:
    assert DAYS_KEPT >= 7
    post(service, "key-1")
    organisation_id = service.organisation.organisation_id
    sql(
        superuser,
        "UPDATE idempotency_keys SET create_time = now() - make_interval(days => $2)"
        " WHERE organisation_id = $1",
        organisation_id,
        days,
    )

    async def forget() -> int:
        async with transaction(service.resources.engine, organisation_id) as db:
            return await forget_old_keys(db, TenantScope(organisation_id))

    assert service.run(forget) == forgotten
    assert len(kept(service, superuser)) == 1 - forgotten


def test_what_fails_before_its_commit_leaves_neither_effect_nor_key(
    service: Service, superuser: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise ConnectionError

    with monkeypatch.context() as broken:
        broken.setattr("nimbill.audit.records.append", fail)
        assert post(service, "key-1").status_code == 503
    assert groups(service) == []
    assert kept(service, superuser) == []

    assert post(service, "key-1").status_code == 200
    assert groups(service) == ["BG-0001"]


def test_a_fingerprint_tells_requests_apart() -> None:
    body, kind = json.dumps(REQUIRED_FIELDS).encode(), "application/json"
    prints = {
        fingerprint("POST", "/a", b"", kind, body),
        fingerprint("PUT", "/a", b"", kind, body),
        fingerprint("POST", "/b", b"", kind, body),
        fingerprint("POST", "/a", b"x=1", kind, body),
        fingerprint("POST", "/a", b"", kind, b"{}"),
        fingerprint("POST", "/a", b"", kind, b""),
        fingerprint("POST", "/a", b"", "text/plain", b" {}"),
        fingerprint("POST", "/a", b"", "text/plain", b"{} "),
    }

    assert len(prints) == 8
