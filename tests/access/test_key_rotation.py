"""Rotation and deletion of signing keys, with two processes on one database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial

import jwt
import pytest
import sqlalchemy as sa
import time_machine
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.key_rotation import (
    PUBLICATION_PERIOD,
    ROTATION_INTERVAL,
    STALE_SIGNER_PERIOD,
    NextKeyTooNew,
    ensure_keys,
    list_keys,
)
from nimbill.access.signing_keys import load_signing_keys, lock_keys, signing_keys
from nimbill.application.installed import PRODUCTS
from nimbill.database.embedded_postgres import Address
from nimbill.foundation.product import Product
from tests.access.key_rotation_steps import (
    DAY,
    TwoProcesses,
    drop,
    issue_client_tokens,
    issue_console_token,
    list_keys_by_state,
    list_published_key_ids,
    maintain,
    read_token_key_id,
    rotate,
    run_in_database,
)
from tests.held_locks import call_while_locked
from tests.identity.login.token_requests import (
    bearer_headers,
    client_form,
    is_token_valid,
    issue_tokens,
    refresh_form,
    request_token,
)
from tests.running_service import Service, running_service
from tests.subusers import run_concurrently
from tests.temporary_database import temporary_database


@pytest.fixture(scope="module")
def processes(
    postgres: Address, superuser: Address, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TwoProcesses]:
    data = tmp_path_factory.mktemp("keys")
    with (
        temporary_database(postgres, superuser) as address,
        running_service(address.url, data) as first,
        running_service(address.url, data, NIMBILL_POOL_SIZE="1") as second,
    ):
        yield TwoProcesses(first, second)


@pytest.fixture
def two(processes: TwoProcesses) -> TwoProcesses:
    """Both processes with new keys that are loaded and stale."""
    encryptor, at = processes.first.resources.encryptor, datetime.now(UTC)

    async def create_keys_again(db: AsyncConnection) -> None:
        await db.execute(sa.delete(signing_keys))
        await ensure_keys(db, encryptor, at=at, products=PRODUCTS)

    run_in_database(processes.first, create_keys_again)
    for service in processes:
        service.run(service.resources.reload_keys)
        service.resources.keys_loaded_at = 0.0
        service.http.cookies.clear()
    return processes


# ── first start ──────────────────────────────────────────────────────────────────────────────────


def test_every_product_starts_with_an_active_and_a_next_key(two: TwoProcesses) -> None:
    for product in PRODUCTS:
        keys = list_keys_by_state(two.first, product)

        assert [len(keys[state]) for state in ("active", "next", "retired")] == [1, 1, 0]


def test_processes_that_start_together_create_the_keys_once(two: TwoProcesses) -> None:
    run_in_database(two.first, lambda db: db.execute(sa.delete(signing_keys)))
    encryptor, at = two.first.resources.encryptor, datetime.now(UTC)
    create = partial(
        run_in_database, call=lambda db: ensure_keys(db, encryptor, at=at, products=PRODUCTS)
    )

    run_concurrently([partial(create, service) for service in two * 3])

    assert len(run_in_database(two.first, list_keys)) == 2 * len(PRODUCTS)


def test_private_keys_are_encrypted(two: TwoProcesses) -> None:
    rows = run_in_database(two.first, list_keys)
    loaded = run_in_database(
        two.first, lambda db: load_signing_keys(db, two.first.resources.encryptor)
    )

    for row in rows:
        key = loaded[row.kid]
        assert (key.private_key is not None) == (row.state == "active")
        if key.private_key is not None:
            secret = key.private_key.private_numbers().private_value.to_bytes(32, "big")
            assert secret not in row.encrypted_private_key
        assert "private" not in repr(key)


# ── rotation on command ──────────────────────────────────────────────────────────────────────────


def test_the_next_key_is_published_before_it_signs(two: TwoProcesses) -> None:
    (next_kid,) = list_keys_by_state(two.first)["next"]
    before = list_published_key_ids(two.first)
    rotate(two.first, at_once=True)

    signed = issue_client_tokens(two.first, two)["access_token"]

    assert read_token_key_id(signed) == next_kid
    assert next_kid in before
    assert set(list_keys_by_state(two.first)["next"]) <= list_published_key_ids(two.first)


def test_rotation_is_refused_until_the_next_key_was_published_for_a_day(two: TwoProcesses) -> None:
    before = list_keys_by_state(two.first)

    with pytest.raises(NextKeyTooNew, match="core"):
        rotate(two.first, after=DAY - 60, at_once=False)
    assert list_keys_by_state(two.first) == before

    rotate(two.first, after=DAY, at_once=False)
    assert list_keys_by_state(two.first)["active"] == before["next"]
    assert list_keys_by_state(two.first)["retired"] == before["active"]


def test_all_products_rotate_or_none(two: TwoProcesses) -> None:
    rotate(two.first, after=60, products=[Product.portal], at_once=True)
    before = [list_keys_by_state(two.first, product) for product in PRODUCTS]

    with pytest.raises(NextKeyTooNew, match="portal"):
        rotate(two.first, after=DAY + 30, products=PRODUCTS, at_once=False)

    assert [list_keys_by_state(two.first, product) for product in PRODUCTS] == before


def test_only_the_given_product_rotates(two: TwoProcesses) -> None:
    before = list_keys_by_state(two.first, Product.portal)

    rotate(two.first, at_once=True)

    assert list_keys_by_state(two.first, Product.portal) == before


def test_tokens_of_a_retired_key_stay_valid_in_every_process(two: TwoProcesses) -> None:
    tokens = issue_client_tokens(two.first, two)
    rotate(two.first, at_once=True)

    for service in two:
        assert is_token_valid(service, tokens["access_token"])
        assert read_token_key_id(tokens["access_token"]) in list_published_key_ids(service)
    assert issue_tokens(two.second, refresh_form(two.first.organisation, tokens["refresh_token"]))


def test_every_process_signs_with_the_new_key_at_once(two: TwoProcesses) -> None:
    issue_client_tokens(two.second, two)
    rotate(two.first, at_once=True)
    (active,) = list_keys_by_state(two.first)["active"]

    assert read_token_key_id(issue_client_tokens(two.second, two)["access_token"]) == active
    rotate(two.first, at_once=True)
    (active,) = list_keys_by_state(two.first)["active"]
    signed = issue_console_token(two.second, two)
    assert read_token_key_id(signed) == active
    assert is_token_valid(two.first, signed)


def test_a_process_loads_a_key_that_it_does_not_know(two: TwoProcesses) -> None:
    rotate(two.first, at_once=True)
    rotate(two.first, at_once=True)  # created and activated after the second process started
    signed = issue_client_tokens(two.first, two)["access_token"]

    assert is_token_valid(two.second, signed)


def test_concurrent_rotations_leave_one_active_key(two: TwoProcesses) -> None:
    run_concurrently([partial(rotate, service, at_once=True) for service in two * 4])

    keys = list_keys_by_state(two.first)
    assert [len(keys[state]) for state in ("active", "next", "retired")] == [1, 1, 8]


CHANGES_OF_KEYS: dict[str, Callable[[Service], object]] = {
    "ensure": lambda service: run_in_database(
        service,
        lambda db: ensure_keys(
            db, service.resources.encryptor, at=datetime.now(UTC), products=PRODUCTS
        ),
    ),
    "rotate": partial(rotate, at_once=True),
    "drop": partial(drop, kid="key_unknown"),
}


@pytest.mark.parametrize("change", CHANGES_OF_KEYS.values(), ids=list(CHANGES_OF_KEYS))
def test_changes_of_keys_wait_for_one_another(
    two: TwoProcesses, change: Callable[[Service], object]
) -> None:
    outcome = call_while_locked(
        two.first, lambda db, _scope: lock_keys(db), partial(change, two.second)
    )

    assert outcome.waited


def test_logins_during_a_rotation_do_not_deadlock(two: TwoProcesses) -> None:
    """The second process has few connections; a login that needs two at once would block."""
    form = client_form(two.first.organisation)
    for _ in range(3):
        rotate(two.first, at_once=True)

        responses = run_concurrently([partial(request_token, two.second, form)] * 12)

        assert {response.status_code for response in responses} == {200}


# ── dropping a key ───────────────────────────────────────────────────────────────────────────────


def test_tokens_of_a_dropped_key_are_refused_at_once_everywhere(two: TwoProcesses) -> None:
    tokens = issue_client_tokens(two.first, two)
    for service in two:
        assert is_token_valid(service, tokens["access_token"])

    assert drop(two.first, read_token_key_id(tokens["access_token"]))

    for service in two:
        assert not is_token_valid(service, tokens["access_token"])
        assert read_token_key_id(tokens["access_token"]) not in list_published_key_ids(service)


def test_every_process_issues_valid_tokens_after_a_drop(two: TwoProcesses) -> None:
    old = issue_client_tokens(two.first, two)
    (next_kid,) = list_keys_by_state(two.first)["next"]
    issue_console_token(two.second, two)
    drop(two.first, read_token_key_id(old["access_token"]))

    fresh = [
        issue_console_token(two.second, two),
        issue_client_tokens(two.second, two)["access_token"],
    ]
    fresh.append(
        issue_tokens(two.second, refresh_form(two.first.organisation, old["refresh_token"]))[
            "access_token"
        ]
    )

    assert {read_token_key_id(access_token) for access_token in fresh} == {next_kid}
    assert all(is_token_valid(service, access_token) for service in two for access_token in fresh)
    assert len(list_keys_by_state(two.first)["next"]) == 1


def test_a_session_continues_after_its_key_was_dropped(two: TwoProcesses) -> None:
    signed = issue_console_token(two.second, two)
    drop(two.first, read_token_key_id(signed))

    response = two.second.http.post("/core/session/refresh")

    assert response.status_code == 200
    assert is_token_valid(two.first, response.json()["access_token"])
    assert not is_token_valid(two.first, signed)


def test_a_dropped_next_key_is_replaced(two: TwoProcesses) -> None:
    (next_kid,) = list_keys_by_state(two.first)["next"]
    tokens = issue_client_tokens(two.first, two)

    assert drop(two.first, next_kid)

    assert list_keys_by_state(two.first)["next"] not in ([next_kid], [])
    assert is_token_valid(two.first, tokens["access_token"])


def test_a_retired_key_can_be_dropped(two: TwoProcesses) -> None:
    tokens = issue_client_tokens(two.first, two)
    rotate(two.first, at_once=True)

    assert drop(two.first, read_token_key_id(tokens["access_token"]))

    assert not is_token_valid(two.second, tokens["access_token"])
    assert list_keys_by_state(two.first)["retired"] == []


@pytest.mark.parametrize("kid", ["", "key_unknown", "' OR 1=1 --", "../key", "%"])
def test_an_unknown_key_is_not_dropped(two: TwoProcesses, kid: str) -> None:
    before = list_keys_by_state(two.first)

    assert not drop(two.first, kid)

    assert list_keys_by_state(two.first) == before


# ── automatic rotation ───────────────────────────────────────────────────────────────────────────


def test_keys_rotate_automatically_after_ninety_days(two: TwoProcesses) -> None:
    before = list_keys_by_state(two.first)

    maintain(two.first, after=ROTATION_INTERVAL - timedelta(minutes=5))
    assert list_keys_by_state(two.first) == before
    maintain(two.first, after=ROTATION_INTERVAL)
    assert list_keys_by_state(two.first)["active"] == before["next"]
    after = list_keys_by_state(two.first)
    maintain(two.second, after=ROTATION_INTERVAL + timedelta(hours=1))
    assert list_keys_by_state(two.first) == after
    assert ROTATION_INTERVAL.days == 90


def test_an_old_key_stays_active_until_the_next_was_published_for_a_day(two: TwoProcesses) -> None:
    with time_machine.travel(datetime.now(UTC) + ROTATION_INTERVAL, tick=False):
        drop(two.first, list_keys_by_state(two.first)["next"][0])
    before = list_keys_by_state(two.first)

    maintain(two.first, after=ROTATION_INTERVAL + PUBLICATION_PERIOD - timedelta(minutes=5))
    assert list_keys_by_state(two.first) == before
    maintain(two.first, after=ROTATION_INTERVAL + PUBLICATION_PERIOD + timedelta(minutes=5))
    assert list_keys_by_state(two.first)["active"] == before["next"]


def test_a_retired_key_is_deleted_when_its_last_token_has_expired(two: TwoProcesses) -> None:
    rotate(two.first, at_once=True)
    (retired,) = list_keys_by_state(two.first)["retired"]
    lifetime = timedelta(seconds=DAY) + STALE_SIGNER_PERIOD

    maintain(two.first, after=lifetime - timedelta(minutes=5))
    assert list_keys_by_state(two.first)["retired"] == [retired]
    maintain(two.first, after=lifetime + timedelta(minutes=5))
    assert list_keys_by_state(two.first)["retired"] == []
    assert retired not in list_published_key_ids(two.second)


# ── unauthenticated requests ─────────────────────────────────────────────────────────────────────


def test_unknown_keys_cause_at_most_one_load_per_second(
    two: TwoProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    resources, loads = two.first.resources, []
    reload_keys = resources.reload_keys

    async def counted() -> None:
        loads.append(1)
        await reload_keys()

    monkeypatch.setattr(resources, "reload_keys", counted)
    resources.keys_loaded_at = 0.0
    unknown = jwt.encode({}, "x" * 32, algorithm="HS256", headers={"kid": "key_unknown"})

    responses = [
        two.first.http.get("/m/core/billinggroup", headers=bearer_headers(unknown))
        for _ in range(20)
    ]

    assert {response.status_code for response in responses} == {401}
    assert 1 <= len(loads) <= 3


def test_loading_unchanged_keys_keeps_the_cache(two: TwoProcesses) -> None:
    signed = issue_client_tokens(two.first, two)["access_token"]
    assert is_token_valid(two.first, signed)

    two.first.run(two.first.resources.reload_keys)

    assert two.first.resources.tokens.is_cached(signed)
