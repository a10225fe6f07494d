"""The life of a signing key, in two processes that share a database."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial

import jwt
import pytest
import sqlalchemy as sa
import time_machine
from sqlalchemy.ext.asyncio import AsyncConnection

from nimbill.access.key_rotation import (
    PUBLISHED_BEFORE_USE,
    ROTATED_EVERY,
    STALE_SIGNER,
    NotYet,
    ensure_keys,
    list_keys,
)
from nimbill.access.signing_keys import load_signing_keys, signing_keys
from nimbill.application.installed import PRODUCTS
from nimbill.database.embedded_postgres import Address
from nimbill.foundation.vocabulary import Product
from tests.access.two_processes import (
    DAY,
    Two,
    console_token,
    drop,
    in_database,
    keep,
    kid_of,
    published,
    rotate,
    states,
    token,
)
from tests.identity.login.asking import as_client, ask, bearer, issued, refreshing, stands
from tests.own_database import own_database
from tests.people import all_at_once
from tests.running_service import running_service


@pytest.fixture(scope="module")
def processes(
    postgres: Address, superuser: Address, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Two]:
    data = tmp_path_factory.mktemp("keys")
    with (
        own_database(postgres, superuser) as address,
        running_service(address.url, data) as one,
        running_service(address.url, data, NIMBILL_POOL_SIZE="1") as other,
    ):
        yield Two(one, other)


@pytest.fixture
def two(processes: Two) -> Two:
    """Both with new keys, as after a first start some time ago."""
    encryptor, at = processes.one.resources.encryptor, datetime.now(UTC)

    async def start_anew(db: AsyncConnection) -> None:
        await db.execute(sa.delete(signing_keys))
        await ensure_keys(db, encryptor, at=at, products=PRODUCTS)

    in_database(processes.one, start_anew)
    for service in processes:
        service.run(service.resources.read_keys)
        service.resources.keys_read_at = 0.0
        service.http.cookies.clear()
    return processes


# ── first start ──────────────────────────────────────────────────────────────────────────────────


def test_every_product_starts_with_a_key_that_signs_and_one_that_will(two: Two) -> None:
    for product in PRODUCTS:
        found = states(two.one, product)

        assert [len(found[state]) for state in ("active", "next", "retired")] == [1, 1, 0]


def test_many_processes_that_start_at_once_make_the_keys_once(two: Two) -> None:
    in_database(two.one, lambda db: db.execute(sa.delete(signing_keys)))
    encryptor, at = two.one.resources.encryptor, datetime.now(UTC)
    make = partial(in_database, do=lambda db: ensure_keys(db, encryptor, at=at, products=PRODUCTS))

    all_at_once([partial(make, service) for service in two * 3])

    assert len(in_database(two.one, list_keys)) == 2 * len(PRODUCTS)


def test_private_keys_are_sealed(two: Two) -> None:
    rows = in_database(two.one, list_keys)
    loaded = in_database(two.one, lambda db: load_signing_keys(db, two.one.resources.encryptor))

    for row in rows:
        key = loaded[row.kid]
        assert (key.private_key is not None) == (row.state == "active")
        if key.private_key is not None:
            secret = key.private_key.private_numbers().private_value.to_bytes(32, "big")
            assert secret not in row.sealed_private_key
        assert "private" not in repr(key)


# ── rotation on command ──────────────────────────────────────────────────────────────────────────


def test_the_next_key_is_published_before_it_signs(two: Two) -> None:
    (next_up,) = states(two.one)["next"]
    before = published(two.one)
    rotate(two.one, now=True)

    signed = token(two.one, two)["access_token"]

    assert kid_of(signed) == next_up
    assert next_up in before
    assert set(states(two.one)["next"]) <= published(two.one)


def test_rotation_waits_until_the_next_key_was_published_for_a_day(two: Two) -> None:
    before = states(two.one)

    with pytest.raises(NotYet, match="core"):
        rotate(two.one, after=DAY - 60, now=False)
    assert states(two.one) == before

    rotate(two.one, after=DAY, now=False)
    assert states(two.one)["active"] == before["next"]
    assert states(two.one)["retired"] == before["active"]


def test_all_products_rotate_or_none_does(two: Two) -> None:
    rotate(two.one, after=60, products=[Product.portal], now=True)
    before = [states(two.one, product) for product in PRODUCTS]

    with pytest.raises(NotYet, match="portal"):
        rotate(two.one, after=DAY + 30, products=PRODUCTS, now=False)

    assert [states(two.one, product) for product in PRODUCTS] == before


def test_only_the_product_named_rotates(two: Two) -> None:
    before = states(two.one, Product.portal)

    rotate(two.one, now=True)

    assert states(two.one, Product.portal) == before


def test_tokens_of_the_retired_key_live_on_in_every_process(two: Two) -> None:
    told = token(two.one, two)
    rotate(two.one, now=True)

    for service in two:
        assert stands(service, told["access_token"])
        assert kid_of(told["access_token"]) in published(service)
    assert issued(two.other, refreshing(two.one.organisation, told["refresh_token"]))


def test_every_process_signs_with_the_new_key_at_once(two: Two) -> None:
    token(two.other, two)
    rotate(two.one, now=True)
    (active,) = states(two.one)["active"]

    assert kid_of(token(two.other, two)["access_token"]) == active
    rotate(two.one, now=True)
    (active,) = states(two.one)["active"]
    signed = console_token(two.other, two)
    assert kid_of(signed) == active
    assert stands(two.one, signed)


def test_a_process_accepts_a_key_it_has_never_heard_of(two: Two) -> None:
    rotate(two.one, now=True)
    rotate(two.one, now=True)  # made and put to use since the other process started
    signed = token(two.one, two)["access_token"]

    assert stands(two.other, signed)


def test_many_rotations_at_once_leave_one_key_that_signs(two: Two) -> None:
    all_at_once([partial(rotate, service, now=True) for service in two * 4])

    found = states(two.one)
    assert [len(found[state]) for state in ("active", "next", "retired")] == [1, 1, 8]


def test_logins_in_the_moment_of_a_rotation_do_not_wait_for_each_other(two: Two) -> None:
    """The other process has two connections; a login that needed two would starve the rest."""
    form = as_client(two.one.organisation)
    for _ in range(3):
        rotate(two.one, now=True)

        answers = all_at_once([partial(ask, two.other, form)] * 12)

        assert {answer.status_code for answer in answers} == {200}


# ── dropping a key ───────────────────────────────────────────────────────────────────────────────


def test_tokens_of_a_dropped_key_die_with_their_next_request_everywhere(two: Two) -> None:
    told = token(two.one, two)
    for service in two:
        assert stands(service, told["access_token"])

    assert drop(two.one, kid_of(told["access_token"]))

    for service in two:
        assert not stands(service, told["access_token"])
        assert kid_of(told["access_token"]) not in published(service)


def test_after_a_drop_every_process_issues_tokens_that_stand(two: Two) -> None:
    old = token(two.one, two)
    (next_up,) = states(two.one)["next"]
    console_token(two.other, two)
    drop(two.one, kid_of(old["access_token"]))

    fresh = [console_token(two.other, two), token(two.other, two)["access_token"]]
    fresh.append(
        issued(two.other, refreshing(two.one.organisation, old["refresh_token"]))["access_token"]
    )

    assert {kid_of(one) for one in fresh} == {next_up}
    assert all(stands(service, one) for service in two for one in fresh)
    assert len(states(two.one)["next"]) == 1


def test_a_session_goes_on_after_its_key_was_dropped(two: Two) -> None:
    signed = console_token(two.other, two)
    drop(two.one, kid_of(signed))

    answer = two.other.http.post("/core/session/refresh")

    assert answer.status_code == 200
    assert stands(two.one, answer.json()["access_token"])
    assert not stands(two.one, signed)


def test_a_next_key_that_is_dropped_is_made_anew(two: Two) -> None:
    (next_up,) = states(two.one)["next"]
    told = token(two.one, two)

    assert drop(two.one, next_up)

    assert states(two.one)["next"] not in ([next_up], [])
    assert stands(two.one, told["access_token"])


def test_a_retired_key_can_be_dropped(two: Two) -> None:
    told = token(two.one, two)
    rotate(two.one, now=True)

    assert drop(two.one, kid_of(told["access_token"]))

    assert not stands(two.other, told["access_token"])
    assert states(two.one)["retired"] == []


@pytest.mark.parametrize("kid", ["", "key_nobody", "' OR 1=1 --", "../key", "%"])
def test_an_unknown_key_is_not_dropped(two: Two, kid: str) -> None:
    before = states(two.one)

    assert not drop(two.one, kid)

    assert states(two.one) == before


# ── rotation by itself ───────────────────────────────────────────────────────────────────────────


def test_keys_rotate_by_themselves_after_ninety_days(two: Two) -> None:
    before = states(two.one)

    keep(two.one, after=ROTATED_EVERY - timedelta(minutes=5))
    assert states(two.one) == before
    keep(two.one, after=ROTATED_EVERY)
    assert states(two.one)["active"] == before["next"]
    after = states(two.one)
    keep(two.other, after=ROTATED_EVERY + timedelta(hours=1))
    assert states(two.one) == after
    assert ROTATED_EVERY.days == 90


def test_an_old_key_waits_until_its_successor_was_published_for_a_day(two: Two) -> None:
    with time_machine.travel(datetime.now(UTC) + ROTATED_EVERY, tick=False):
        drop(two.one, states(two.one)["next"][0])
    before = states(two.one)

    keep(two.one, after=ROTATED_EVERY + PUBLISHED_BEFORE_USE - timedelta(minutes=5))
    assert states(two.one) == before
    keep(two.one, after=ROTATED_EVERY + PUBLISHED_BEFORE_USE + timedelta(minutes=5))
    assert states(two.one)["active"] == before["next"]


def test_a_retired_key_goes_when_its_last_token_has_expired(two: Two) -> None:
    rotate(two.one, now=True)
    (retired,) = states(two.one)["retired"]
    ends = timedelta(seconds=DAY) + STALE_SIGNER

    keep(two.one, after=ends - timedelta(minutes=5))
    assert states(two.one)["retired"] == [retired]
    keep(two.one, after=ends + timedelta(minutes=5))
    assert states(two.one)["retired"] == []
    assert retired not in published(two.other)


# ── what a stranger can cause ────────────────────────────────────────────────────────────────────


def test_unknown_keys_make_a_process_look_at_most_once_a_second(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    resources, looked = two.one.resources, []
    read = resources.read_keys

    async def counted() -> None:
        looked.append(1)
        await read()

    monkeypatch.setattr(resources, "read_keys", counted)
    resources.keys_read_at = 0.0
    odd = jwt.encode({}, "x" * 32, algorithm="HS256", headers={"kid": "key_unheard_of"})

    answers = [two.one.http.get("/m/core/billinggroup", headers=bearer(odd)) for _ in range(20)]

    assert {answer.status_code for answer in answers} == {401}
    assert 1 <= len(looked) <= 3


def test_a_look_that_finds_nothing_new_forgets_no_signature(two: Two) -> None:
    signed = token(two.one, two)["access_token"]
    assert stands(two.one, signed)

    two.one.run(two.one.resources.read_keys)

    assert two.one.resources.tokens.holds(signed)
