"""Signing in to a console with a second factor."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
import time_machine

from nimbill.application.maintenance import maintenance_job_types
from nimbill.database.tenant_scope import TenantScope, transaction
from nimbill.foundation.product import Product
from nimbill.identity.second_factors.records import second_factor_challenges, second_factors
from nimbill.jobs.recurring import DELETE_EXPIRED_LOGINS
from nimbill.jobs.runner import Job
from tests.identity.login.console_sessions import parse_cookies, refresh_session, sign_in
from tests.identity.login.token_requests import (
    PRODUCTS,
    bearer_headers,
    create_user,
    decode_claims,
    is_token_valid,
)
from tests.identity.second_factors.authenticator import Authenticator
from tests.identity.second_factors.factor_requests import (
    add_app,
    add_passkey,
    enter_password,
    is_refused,
    list_factors,
    prove,
    session_headers,
)
from tests.problem_responses import read_problem
from tests.running_service import Service

each_product = pytest.mark.parametrize("product", PRODUCTS)


# ── a passkey ────────────────────────────────────────────────────────────────────────────────────


@each_product
def test_a_passkey_completes_the_sign_in(service: Service, product: Product) -> None:
    authenticator = add_passkey(service, session_headers(service, product))

    step = enter_password(service, product)
    response = prove(service, step, product, passkey=authenticator.sign(step["passkey"]))

    assert step["totp"] is False
    assert response.status_code == 200, response.text
    body = response.json()
    assert (body["user_id"], body["username"]) == (service.organisation.root_user_id, "root")
    assert decode_claims(body["access_token"])["aud"] == product
    assert is_token_valid(service, body["access_token"])
    assert set(parse_cookies(response)) == {f"nimbill_{product}_session", "nimbill_device"}
    assert refresh_session(service, product).status_code == 200
    (factor,) = list_factors(service, service.root())
    assert factor["last_use_time"] is not None


def test_an_authenticator_without_a_counter_works_again_and_again(service: Service) -> None:
    authenticator = add_passkey(service, session_headers(service), Authenticator(counts=False))

    for _ in range(2):
        step = enter_password(service)
        proof = authenticator.sign(step["passkey"])
        assert prove(service, step, passkey=proof).status_code == 200


def test_a_proof_works_once(service: Service) -> None:
    authenticator = add_passkey(service, session_headers(service))
    step = enter_password(service)
    proof = authenticator.sign(step["passkey"])
    assert prove(service, step, passkey=proof).status_code == 200

    assert is_refused(prove(service, step, passkey=proof), "sign_in_expired")
    assert is_refused(prove(service, enter_password(service), passkey=proof))


def test_a_counter_that_does_not_grow_is_refused(service: Service) -> None:
    """A copy of the authenticator has signed before."""
    authenticator = add_passkey(service, session_headers(service))
    step = enter_password(service)
    assert prove(service, step, passkey=authenticator.sign(step["passkey"])).status_code == 200
    authenticator.sign_count = 0

    step = enter_password(service)

    assert is_refused(prove(service, step, passkey=authenticator.sign(step["passkey"])))


def test_a_signature_for_another_origin_host_or_challenge_is_refused(service: Service) -> None:
    authenticator = add_passkey(service, session_headers(service))
    other = enter_password(service)["passkey"]
    step = enter_password(service)
    options = step["passkey"]
    wrong = [
        authenticator.sign(other),
        authenticator.sign({**options, "rp_id": "example.com"}),
        {**authenticator.sign(options), "signature": "AAAA"},
        {**authenticator.sign(options), "authenticator_data": "AAAA"},
        {**authenticator.sign(options), "credential_id": "AAAA"},
        Authenticator(credential_id=authenticator.credential_id).sign(options),
    ]
    authenticator.origin = "https://evil.example"
    wrong.append(authenticator.sign(options))

    for proof in wrong:
        assert is_refused(prove(service, step, passkey=proof))
    authenticator.origin = "http://localhost:8080"
    assert prove(service, step, passkey=authenticator.sign(options)).status_code == 200


def test_a_passkey_of_another_user_is_refused(service: Service) -> None:
    of_root = add_passkey(service, session_headers(service))
    user = create_user(service)
    add_passkey(service, session_headers(service, username=user.username))

    step = enter_password(service, username=user.username)

    assert is_refused(prove(service, step, passkey=of_root.sign(step["passkey"])))


# ── an authenticator app ─────────────────────────────────────────────────────────────────────────


@each_product
def test_a_code_completes_the_sign_in_and_works_once(service: Service, product: Product) -> None:
    app = add_app(service, session_headers(service, product))
    step = enter_password(service, product)
    assert (step["totp"], step["passkey"]) == (True, None)

    assert prove(service, step, product, totp_code=app.code()).status_code == 200

    step = enter_password(service, product)
    assert is_refused(prove(service, step, product, totp_code=app.code()))
    assert is_refused(prove(service, step, product, totp_code=app.code(-1)))
    assert prove(service, step, product, totp_code=app.code(1)).status_code == 200


def test_the_code_of_the_registration_does_not_work_again(service: Service) -> None:
    app = add_app(service, session_headers(service))

    assert is_refused(prove(service, enter_password(service), totp_code=app.code(-1)))


def test_either_of_two_kinds_completes_the_sign_in(service: Service) -> None:
    headers = session_headers(service)
    authenticator = add_passkey(service, headers)
    first, second = add_app(service, headers), add_app(service, headers)

    for app in (first, second):
        assert prove(service, enter_password(service), totp_code=app.code()).status_code == 200
    step = enter_password(service)
    assert prove(service, step, passkey=authenticator.sign(step["passkey"])).status_code == 200


def test_a_code_does_not_prove_a_passkey(service: Service) -> None:
    add_passkey(service, session_headers(service))

    assert is_refused(prove(service, enter_password(service), totp_code="123456"))


def test_a_passkey_does_not_prove_an_app(service: Service) -> None:
    add_app(service, session_headers(service))
    step = enter_password(service)
    options = {"rp_id": "localhost", "challenge": ""}

    assert is_refused(prove(service, step, passkey=Authenticator().sign(options)))


def test_the_secret_is_stored_encrypted(service: Service) -> None:
    app = add_app(service, session_headers(service))
    organisation_id = service.organisation.organisation_id

    async def load() -> Any:
        async with transaction(service.resources.engine, organisation_id) as db:
            stmt = sa.select(second_factors.c.encrypted_secret)
            return (await db.execute(stmt)).scalar_one()

    assert app.secret not in service.run(load)


# ── the token between the steps ──────────────────────────────────────────────────────────────────


def test_the_token_ends_after_five_minutes(service: Service) -> None:
    app = add_app(service, session_headers(service))
    step = enter_password(service)

    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=5, seconds=1), tick=False):
        assert is_refused(prove(service, step, totp_code=app.code()), "sign_in_expired")


def test_the_token_ends_with_the_password(service: Service) -> None:
    user = create_user(service)
    app = add_app(service, session_headers(service, username=user.username))
    step = enter_password(service, username=user.username)
    path = f"/m/u/users/{user.user_id}/password"
    changed = service.http.put(path, json={"password": "another 77"}, headers=service.root())
    assert changed.status_code == 200

    assert is_refused(prove(service, step, totp_code=app.code()), "sign_in_expired")


def test_the_token_is_of_one_product(service: Service) -> None:
    app = add_app(service, session_headers(service))
    step = enter_password(service, Product.core)

    response = prove(service, step, Product.portal, totp_code=app.code())

    assert is_refused(response, "sign_in_expired")
    assert prove(service, step, Product.core, totp_code=app.code()).status_code == 200


def test_the_token_names_its_organisation_and_works_in_no_other(service: Service) -> None:
    app = add_app(service, session_headers(service))
    other = service.new_organisation()
    _, _, secret = enter_password(service)["sign_in_token"].partition(".")

    for token in (f"{other.organisation_id}.{secret}", secret, "", "a.b", f"nobody.{secret}"):
        response = prove(service, {"sign_in_token": token or "x"}, totp_code=app.code())
        assert is_refused(response, "sign_in_expired")


def test_the_token_gives_no_access(service: Service) -> None:
    add_app(service, session_headers(service))

    token = enter_password(service)["sign_in_token"]

    response = service.http.get("/m/core/billinggroup", headers=bearer_headers(token))
    assert response.status_code == 401


def test_expired_tokens_are_deleted(service: Service) -> None:
    add_app(service, session_headers(service))
    enter_password(service)
    resources, scope = service.resources, TenantScope(service.organisation.organisation_id)
    (job_type,) = [
        each
        for each in maintenance_job_types(resources.settings, resources.encryptor)
        if each.name == DELETE_EXPIRED_LOGINS
    ]

    async def delete_and_count() -> int:
        async with transaction(resources.engine, scope.organisation_id) as db:
            job = Job(scope, "wrk_x", DELETE_EXPIRED_LOGINS, "", {}, {}, 1)
            await job_type.run(db, job)
            stmt = sa.select(sa.func.count()).select_from(second_factor_challenges)
            return int((await db.execute(stmt)).scalar_one())

    assert service.run(delete_and_count) == 1
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=6), tick=False):
        assert service.run(delete_and_count) == 0


def test_requests_of_other_sites_are_refused(service: Service) -> None:
    app = add_app(service, session_headers(service))
    step = enter_password(service)

    response = prove(service, step, headers={"Sec-Fetch-Site": "cross-site"}, totp_code=app.code())

    assert read_problem(response, 403)["code"] == "other_origin"


# ── wrong proofs ─────────────────────────────────────────────────────────────────────────────────


def test_ten_wrong_codes_in_fifteen_minutes_throttle_the_user(service: Service) -> None:
    app = add_app(service, session_headers(service))
    step = enter_password(service)
    for _ in range(10):
        service.http.cookies.clear()  # another browser gets no further attempts
        assert is_refused(prove(service, step, totp_code=app.code(7)))

    for again in (step, enter_password(service)):
        response = prove(service, again, totp_code=app.code())
        assert read_problem(response, 429)["code"] == "login_throttled"
        assert 0 < int(response.headers["retry-after"]) <= 15 * 60

    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=16), tick=False):
        step = enter_password(service)
        assert prove(service, step, totp_code=app.code()).status_code == 200


def test_correct_codes_do_not_count(service: Service) -> None:
    authenticator = add_passkey(service, session_headers(service))

    for _ in range(12):
        step = enter_password(service)
        proof = authenticator.sign(step["passkey"])
        assert prove(service, step, passkey=proof).status_code == 200


def test_a_browser_becomes_known_after_the_second_step_only(service: Service) -> None:
    """Ten wrong passwords from elsewhere lock out unknown browsers, and not known ones."""
    user = create_user(service)
    app = add_app(service, session_headers(service, username=user.username))
    service.http.cookies.clear()
    step = enter_password(service, username=user.username)
    assert service.http.cookies.get("nimbill_device") is None
    assert prove(service, step, totp_code=app.code()).status_code == 200
    device = {"Cookie": f"nimbill_device={service.http.cookies['nimbill_device']}"}
    service.http.cookies.clear()
    for _ in range(10):
        wrong = {"username": user.username, "password": "guessed 5d"}
        assert sign_in(service, fields=wrong).status_code == 401

    unknown = sign_in(service, fields={"username": user.username})
    known = sign_in(service, fields={"username": user.username}, headers=device)

    assert read_problem(unknown, 429)["code"] == "login_throttled"
    assert read_problem(known, 401)["code"] == "second_factor_required"
