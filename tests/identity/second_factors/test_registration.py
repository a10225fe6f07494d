"""Registering, listing and removing second factors in a session."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx
import pytest
import time_machine

from nimbill.foundation.product import Product
from tests.identity.login.token_requests import (
    bearer_headers,
    client_form,
    create_user,
    issue_tokens,
    password_form,
)
from tests.identity.second_factors.authenticator import Authenticator
from tests.identity.second_factors.factor_requests import (
    FACTORS,
    AuthenticatorApp,
    add_app,
    add_passkey,
    begin,
    begin_for_body,
    complete,
    decode_secret,
    list_factors,
    prove,
    session_headers,
    set_requirement,
)
from tests.problem_responses import read_problem
from tests.running_service import PASSWORD, Service
from tests.subusers import create_subuser


def remove(
    service: Service, headers: dict[str, str], factor_id: str, password: str | None = PASSWORD
) -> httpx.Response:
    body = {"old_password": password}
    return service.http.post(f"{FACTORS}/{factor_id}/removal", json=body, headers=headers)


# ── adding ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("product", [Product.core, Product.portal])
def test_registered_factors_are_listed_oldest_first(service: Service, product: Product) -> None:
    headers = session_headers(service, product)
    assert list_factors(service, headers) == []

    add_passkey(service, headers)
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=1), tick=False):
        add_app(service, headers)
        passkey, app = list_factors(service, headers)

    assert (passkey["kind"], app["kind"]) == ("passkey", "totp")
    assert set(passkey) == {"factor_id", "kind", "name", "create_time", "last_use_time"}
    assert (passkey["name"], passkey["last_use_time"]) == ("My factor", None)
    assert passkey["create_time"] < app["create_time"]


def test_the_options_of_a_passkey_name_the_site_and_known_passkeys(service: Service) -> None:
    headers = session_headers(service)
    known = add_passkey(service, headers)

    registration = begin_for_body(service, headers, "passkey")

    options = registration["passkey"]
    assert registration["totp"] is None
    assert options["rp_id"] == "localhost"
    assert options["username"] == "root"
    assert options["algorithms"] == [-8, -7, -257]
    assert options["known_credential_ids"] == [known.create(options)["credential_id"]]
    assert len(options["challenge"]) == len(options["user_handle"]) == 43


def test_the_key_of_an_app_is_shown_once_as_text_and_as_uri(service: Service) -> None:
    registration = begin_for_body(service, session_headers(service), "totp")

    key = registration["totp"]
    assert registration["passkey"] is None
    assert len(decode_secret(key["secret"])) == 20
    assert key["uri"] == f"otpauth://totp/Nimbill:root?secret={key['secret']}&issuer=Nimbill"


@pytest.mark.parametrize("kind", ["passkey", "totp"])
def test_the_current_password_is_required(service: Service, kind: str) -> None:
    headers = session_headers(service)

    for password in (None, "guessed 5d"):
        problem = read_problem(begin(service, headers, kind, password), 400)
        assert problem["violations"] == [{"field": "old_password", "rule": "the current password"}]


def test_tokens_of_clients_change_no_factors(service: Service) -> None:
    """Neither the client's own token nor one that it requests with a password."""
    session = session_headers(service)
    registration = begin_for_body(service, session, "passkey")
    passkey = Authenticator().create(registration["passkey"])
    by_client = bearer_headers(
        issue_tokens(service, client_form(service.organisation))["access_token"]
    )
    by_password = bearer_headers(
        issue_tokens(service, password_form(service.organisation, "root"))["access_token"]
    )

    for headers in (by_client, by_password):
        responses = (
            begin(service, headers, "passkey"),
            complete(service, headers, registration, passkey=passkey),
            remove(service, headers, "fct_unknown"),
        )
        for response in responses:
            assert read_problem(response, 403)["code"] == "session_required"
    assert list_factors(service, session) == []


WRONG_PASSKEYS = {
    "other origin": Authenticator(origin="http://127.0.0.1:8080"),
    "other site": Authenticator(origin="https://evil.example"),
}


@pytest.mark.parametrize("wrong", WRONG_PASSKEYS)
def test_a_passkey_of_another_origin_is_refused(service: Service, wrong: str) -> None:
    headers = session_headers(service)
    registration = begin_for_body(service, headers, "passkey")
    passkey = WRONG_PASSKEYS[wrong].create(registration["passkey"])

    problem = read_problem(complete(service, headers, registration, passkey=passkey), 400)

    assert [each["field"] for each in problem["violations"]] == ["passkey"]
    assert list_factors(service, headers) == []


def test_a_passkey_for_another_challenge_or_host_and_nonsense_are_refused(
    service: Service,
) -> None:
    headers = session_headers(service)
    other = begin_for_body(service, headers, "passkey")["passkey"]
    registration = begin_for_body(service, headers, "passkey")
    options = registration["passkey"]
    wrong = [
        Authenticator().create(other),
        Authenticator().create({**options, "rp_id": "example.com"}),
        {**Authenticator().create(options), "attestation_object": "AAAA"},
        {**Authenticator().create(options), "client_data": "A"},
        {**Authenticator().create(options), "credential_id": "AAAA"},
    ]

    for passkey in wrong:
        response = complete(service, headers, registration, passkey=passkey)
        assert read_problem(response, 400)["violations"][0]["field"] == "passkey"
    assert list_factors(service, headers) == []


def test_a_wrong_first_code_is_refused_and_can_be_repeated(service: Service) -> None:
    headers = session_headers(service)
    registration = begin_for_body(service, headers, "totp")
    app = AuthenticatorApp(decode_secret(registration["totp"]["secret"]))

    problem = read_problem(complete(service, headers, registration, totp_code=app.code(5)), 400)

    assert [each["field"] for each in problem["violations"]] == ["totp_code"]
    assert complete(service, headers, registration, totp_code=app.code()).status_code == 200


def test_a_registration_works_once_for_its_kind_and_for_five_minutes(service: Service) -> None:
    headers = session_headers(service)
    of_app = begin_for_body(service, headers, "totp")
    of_passkey = begin_for_body(service, headers, "passkey")
    passkey = Authenticator().create(of_passkey["passkey"])
    code = AuthenticatorApp(decode_secret(of_app["totp"]["secret"])).code()
    refused = [
        complete(service, headers, of_app, passkey=passkey),
        complete(service, headers, of_passkey, totp_code=code),
        complete(service, headers, {"registration_token": "nonsense"}, totp_code=code),
    ]
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=5, seconds=1), tick=False):
        refused.append(complete(service, headers, of_passkey, passkey=passkey))
    assert complete(service, headers, of_passkey, passkey=passkey).status_code == 200
    refused.append(complete(service, headers, of_passkey, passkey=passkey))

    for response in refused:
        assert read_problem(response, 400)["code"] == "registration_invalid"
    assert len(list_factors(service, headers)) == 1


def test_exactly_one_proof_is_required(service: Service) -> None:
    headers = session_headers(service)
    registration = begin_for_body(service, headers, "passkey")
    passkey = Authenticator().create(registration["passkey"])

    for proof in ({}, {"passkey": passkey, "totp_code": "123456"}):
        problem = read_problem(complete(service, headers, registration, **proof), 400)
        assert problem["violations"] == [{"field": "body", "rule": "either passkey or totp_code"}]


def test_a_registration_of_another_user_or_organisation_is_refused(
    service: Service,
) -> None:
    user = create_user(service)
    registration = begin_for_body(service, session_headers(service), "passkey")
    passkey = Authenticator().create(registration["passkey"])
    other = service.new_organisation()
    others = [
        session_headers(service, username=user.username),
        session_headers(service, organisation=other.organisation_id),
    ]

    for headers in others:
        response = complete(service, headers, registration, passkey=passkey)
        assert read_problem(response, 400)["code"] == "registration_invalid"


def test_a_sign_in_token_registers_nothing_in_a_session_and_signs_nobody_in(
    service: Service,
) -> None:
    headers = session_headers(service)
    registration = begin_for_body(service, headers, "totp")
    code = AuthenticatorApp(decode_secret(registration["totp"]["secret"])).code()

    response = prove(service, {"sign_in_token": registration["registration_token"]}, totp_code=code)

    assert read_problem(response, 401)["code"] == "sign_in_expired"


def test_a_user_has_ten_factors_at_most(service: Service) -> None:
    headers = session_headers(service)
    for _ in range(10):
        add_passkey(service, headers)

    problem = read_problem(begin(service, headers, "totp"), 409)

    assert problem["code"] == "too_many_second_factors"


def test_a_passkey_belongs_to_one_user_of_an_organisation(service: Service) -> None:
    authenticator = add_passkey(service, session_headers(service))
    user = create_user(service)
    headers = session_headers(service, username=user.username)
    registration = begin_for_body(service, headers, "passkey")

    response = complete(
        service, headers, registration, passkey=authenticator.create(registration["passkey"])
    )

    assert read_problem(response, 409)["code"] == "passkey_taken"


# ── removing ─────────────────────────────────────────────────────────────────────────────────────


def test_a_factor_is_removed_with_the_current_password(service: Service) -> None:
    headers = session_headers(service)
    add_passkey(service, headers)
    (factor,) = list_factors(service, headers)

    for password in (None, "guessed 5d"):
        response = remove(service, headers, factor["factor_id"], password)
        assert read_problem(response, 400)["violations"][0]["field"] == "old_password"
    assert remove(service, headers, factor["factor_id"]).status_code == 200

    assert list_factors(service, headers) == []
    assert read_problem(remove(service, headers, factor["factor_id"]), 404)
    session_headers(service)


def test_a_factor_of_another_user_is_not_found(service: Service) -> None:
    root = session_headers(service)
    add_passkey(service, root)
    (factor,) = list_factors(service, root)
    user = create_user(service)
    headers = session_headers(service, username=user.username)

    assert remove(service, headers, factor["factor_id"]).status_code == 404

    assert len(list_factors(service, root)) == 1


def test_the_last_factor_stays_while_the_organisation_requires_one(service: Service) -> None:
    headers = session_headers(service)
    add_passkey(service, headers)
    add_app(service, headers)
    set_requirement(service, staff_needs_second_factor=True)
    first, last = list_factors(service, headers)
    assert remove(service, headers, first["factor_id"]).status_code == 200

    problem = read_problem(remove(service, headers, last["factor_id"]), 409)

    assert problem["code"] == "last_second_factor"
    set_requirement(service, staff_needs_second_factor=False)
    assert remove(service, headers, last["factor_id"]).status_code == 200


def test_a_manager_removes_the_factors_of_a_user_who_lost_them(service: Service) -> None:
    user = create_user(service)
    headers = session_headers(service, username=user.username)
    add_passkey(service, headers)
    add_app(service, headers)
    manager = create_subuser(service, core=["ModifyUsers"])
    path = f"/m/u/users/{user.user_id}/second-factors"
    assert len(list_factors(service, manager.core, user.user_id)) == 2

    assert service.http.delete(path, headers=manager.core).status_code == 200

    assert list_factors(service, headers, user.user_id) == []
    session_headers(service, username=user.username)


def test_factors_of_users_with_more_permissions_and_own_factors_stay(service: Service) -> None:
    root = session_headers(service)
    add_passkey(service, root)
    manager = create_subuser(service, core=["ModifyUsers"])
    path = f"/m/u/users/{service.organisation.root_user_id}/second-factors"

    by_manager = service.http.delete(path, headers=manager.core)
    by_root = service.http.delete(path, headers=root)

    assert read_problem(by_manager, 403)["code"] == "holds_more"
    assert read_problem(service.http.get(path, headers=manager.core), 403)["code"] == "holds_more"
    assert read_problem(by_root, 403)["code"] == "own_second_factors"
    assert len(list_factors(service, root)) == 1


def test_factors_of_another_organisation_are_not_found(service: Service) -> None:
    add_passkey(service, session_headers(service))
    other = service.root(service.new_organisation())
    path = f"/m/u/users/{service.organisation.root_user_id}/second-factors"

    assert service.http.get(path, headers=other).status_code == 404
    assert service.http.delete(path, headers=other).status_code == 404


def test_the_audit_log_has_the_changes_without_secrets(service: Service) -> None:
    headers = session_headers(service)
    app = add_app(service, headers)
    (factor,) = list_factors(service, headers)
    remove(service, headers, factor["factor_id"])

    rows = service.http.get("/m/core/audit", headers=service.root())

    actions = {(row["action"], row["resource"]) for row in rows.json()}
    resource = f"second-factor/{factor['factor_id']}"
    assert {("add_second_factor", resource), ("remove_second_factor", resource)} <= actions
    for secret in (app.code(-1), PASSWORD, f"{service.organisation.organisation_id}."):
        assert secret not in rows.text
