"""POST /core/password-reset and …/confirm, and the same of the portal"""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
import time_machine

from nimbill.database.tenant_scope import transaction
from nimbill.foundation.product import Product
from nimbill.identity.login import password_reset
from nimbill.identity.users.password_link_records import password_links
from tests.identity.login.console_sessions import refresh_session, sign_in_for_token
from tests.identity.login.test_delete_expired_logins import delete_expired
from tests.identity.login.token_requests import (
    PRODUCTS,
    is_token_valid,
    issue_tokens,
    password_form,
    request_token,
)
from tests.mail.outbox_messages import find_link, read_link, read_outbox
from tests.problem_responses import read_problem, read_violations
from tests.running_service import PASSWORD, Service
from tests.subusers import run_concurrently

EMAIL, NEW_PASSWORD = "hana@example.com", "a better one, 9"
each_product = pytest.mark.parametrize("product", PRODUCTS)


@pytest.fixture
def user_id(service: Service) -> str:
    """A subuser with an e-mail address, without an invitation."""
    body = {
        "username": "hanako.s",
        "password": PASSWORD,
        "email": EMAIL,
        "notification": {"email": "false"},
    }
    response = service.http.post("/m/u/users", json=body, headers=service.root())
    assert response.status_code == 200, response.text
    return str(response.json()["user_id"])


def request_link(
    service: Service, product: Product = Product.core, **fields: str
) -> httpx.Response:
    body = {
        "organisation": service.organisation.organisation_id,
        "username": "hanako.s",
        **fields,
    }
    return service.http.post(f"/{product}/password-reset", json=body)


def mail_link(service: Service, product: Product = Product.core) -> dict[str, str]:
    """Organisation and token of a new link; it must be the first mail."""
    assert request_link(service, product).status_code == 202
    (message,) = read_outbox(service.settings.data, service.organisation.organisation_id)
    return read_link(message)


def confirm(
    service: Service, link: dict[str, str], product: Product = Product.core, **fields: str
) -> httpx.Response:
    body = {**link, "password": NEW_PASSWORD, **fields}
    return service.http.post(f"/{product}/password-reset/confirm", json=body)


def count_links(service: Service) -> int:
    organisation_id = service.organisation.organisation_id

    async def count() -> int:
        async with transaction(service.resources.engine, organisation_id) as db:
            stmt = sa.select(sa.func.count()).select_from(password_links)
            return int((await db.execute(stmt)).scalar_one())

    return service.run(count)


def can_log_in(service: Service, password: str) -> bool:
    form = password_form(service.organisation, "hanako.s", password)
    return request_token(service, form).is_success


def list_audit_rows(service: Service, action: str) -> list[dict[str, Any]]:
    response = service.http.get("/m/core/audit", params={"action": action}, headers=service.root())
    assert response.status_code == 200, response.text
    rows: list[dict[str, Any]] = response.json()
    return rows


# ── the request ──────────────────────────────────────────────────────────────────────────────────


@each_product
def test_the_link_in_the_mail_sets_a_new_password(
    service: Service, user_id: str, product: Product
) -> None:
    organisation_id = service.organisation.organisation_id

    assert request_link(service, product).status_code == 202
    (message,) = read_outbox(service.settings.data, organisation_id)
    response = confirm(service, read_link(message), product)

    page = {"core": "console", "portal": "portal"}[product]
    address = f"{service.settings.link_url}/{page}/choose-password#"
    assert find_link(message).startswith(address)
    assert message["To"] == EMAIL
    assert "hanako.s" in message.get_content()
    assert response.status_code == 200
    assert response.json() == {"status": "success"}
    assert can_log_in(service, NEW_PASSWORD)
    assert not can_log_in(service, PASSWORD)


@pytest.mark.parametrize("name", ["HANAKO.S", EMAIL.upper()])
def test_the_name_or_the_address_in_any_case_requests_a_link(
    service: Service, user_id: str, name: str
) -> None:
    assert request_link(service, username=name).status_code == 202

    (message,) = read_outbox(service.settings.data, service.organisation.organisation_id)
    assert message["To"] == EMAIL


def test_known_and_unknown_names_have_equal_responses_and_only_the_known_one_a_mail(
    service: Service, user_id: str
) -> None:
    responses = [
        request_link(service, username="nobody.s"),
        request_link(service, username="root"),  # has no address
        request_link(service, organisation="unknown"),
        request_link(service),
    ]

    (message,) = read_outbox(service.settings.data, service.organisation.organisation_id)
    assert message["To"] == EMAIL
    assert count_links(service) == 1
    assert {response.status_code for response in responses} == {202}
    assert {response.text for response in responses} == {'{"status":"success"}'}
    names = {tuple(sorted(response.headers)) for response in responses}
    assert len(names) == 1
    own = {"x-request-id", "date"}
    values = {
        tuple(sorted((name, value) for name, value in response.headers.items() if name not in own))
        for response in responses
    }
    assert len(values) == 1


def test_the_response_does_not_wait_for_the_mail_and_does_not_show_its_failure(
    service: Service, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = asyncio.Event()

    async def fail(*_: Any) -> None:
        await release.wait()
        raise RuntimeError("the mail cannot be queued")

    async def finish() -> None:
        release.set()
        await asyncio.gather(*service.resources.background_tasks)

    monkeypatch.setattr(password_reset, "queue_message", fail)

    response = request_link(service)

    assert len(service.resources.background_tasks) == 1
    assert response.status_code == 202
    assert response.text == '{"status":"success"}'
    service.run(finish)
    assert service.resources.background_tasks == set()
    assert count_links(service) == 0


def test_a_user_gets_three_links_in_an_hour(service: Service, user_id: str) -> None:
    for _ in range(5):
        assert request_link(service).status_code == 202

    organisation_id = service.organisation.organisation_id
    assert len(read_outbox(service.settings.data, organisation_id, count=3)) == 3
    assert count_links(service) == 3
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=61), tick=False):
        assert request_link(service).status_code == 202
    assert count_links(service) == 4


def test_a_customer_gets_no_link_to_the_core_console(service: Service, user_id: str) -> None:
    async def make_customer() -> None:
        async with transaction(
            service.resources.engine, service.organisation.organisation_id
        ) as db:
            await db.execute(
                sa.text("UPDATE users SET kind = 'reseller_subuser' WHERE user_id = :user_id"),
                {"user_id": user_id},
            )

    service.run(make_customer)

    assert request_link(service).status_code == 202

    assert count_links(service) == 0


def test_a_request_of_another_site_is_refused(service: Service, user_id: str) -> None:
    for path in ("/core/password-reset", "/portal/password-reset/confirm"):
        body = {"organisation": "x", "username": "x", "token": "x", "password": NEW_PASSWORD}
        response = service.http.post(path, json=body, headers={"Sec-Fetch-Site": "cross-site"})

        assert read_problem(response, 403)["code"] == "other_origin"


# ── the confirmation ─────────────────────────────────────────────────────────────────────────────


def test_a_new_password_ends_sessions_and_tokens_and_forgets_wrong_passwords(
    service: Service, user_id: str
) -> None:
    link = mail_link(service)
    session = sign_in_for_token(service, username="hanako.s")
    form = password_form(service.organisation, "hanako.s")
    token = issue_tokens(service, form)["access_token"]
    for _ in range(10):
        assert not can_log_in(service, "wrong 1234")
    assert request_token(service, form).status_code == 429

    assert confirm(service, link).status_code == 200

    assert not is_token_valid(service, session)
    assert not is_token_valid(service, token)
    assert refresh_session(service).status_code == 401
    assert can_log_in(service, NEW_PASSWORD)


def test_a_link_works_once_and_ends_the_other_links(service: Service, user_id: str) -> None:
    for _ in range(2):
        request_link(service)
    organisation_id = service.organisation.organisation_id
    messages = read_outbox(service.settings.data, organisation_id, count=2)
    first, second = (read_link(message) for message in messages)

    assert confirm(service, first).status_code == 200

    for link in (first, second):
        problem = read_problem(confirm(service, link), 400)
        assert problem["code"] == "link_invalid"
        assert "Request a new one" in problem["detail"]
    assert count_links(service) == 0


def test_of_concurrent_confirmations_exactly_one_succeeds(service: Service, user_id: str) -> None:
    link = mail_link(service)
    passwords = [f"password {number}" for number in range(4)]

    responses = run_concurrently(
        [partial(confirm, service, link, password=password) for password in passwords]
    )

    assert sorted(response.status_code for response in responses) == [200, 400, 400, 400]
    valid = [password for password in passwords if can_log_in(service, password)]
    succeeded = [response.status_code == 200 for response in responses]
    assert valid == [passwords[succeeded.index(True)]]
    assert len(list_audit_rows(service, "choose_password")) == 1


def test_unusable_links_have_the_same_response(service: Service, user_id: str) -> None:
    link = mail_link(service)
    other = service.new_organisation()
    responses = [
        confirm(service, link, token="unknown"),
        confirm(service, link, organisation=other.organisation_id),
        confirm(service, link, organisation="unknown"),
        confirm(service, link, Product.portal),
        confirm(service, link, token="ü"),
    ]
    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=61), tick=False):
        responses.append(confirm(service, link))

    problems = [read_problem(response, 400) for response in responses]
    for problem in problems:
        problem.pop("instance")
    assert problems == [problems[0]] * len(problems)
    assert problems[0]["code"] == "link_invalid"
    assert can_log_in(service, PASSWORD)


@pytest.mark.parametrize("change", ["password", "email"])
def test_a_change_of_password_or_address_ends_the_link(
    service: Service, user_id: str, change: str
) -> None:
    link = mail_link(service)
    body = {"password": "yet another 7"} if change == "password" else {"email": "new@example.com"}
    path = f"/m/u/users/{user_id}/{change}"
    assert service.http.put(path, json=body, headers=service.root()).status_code == 200

    assert read_problem(confirm(service, link), 400)["code"] == "link_invalid"


def test_a_password_that_breaks_the_rule_keeps_the_link(service: Service, user_id: str) -> None:
    link = mail_link(service)

    response = confirm(service, link, password="short")

    assert read_violations(response) == [("password", "length 8 to 18")]
    assert confirm(service, link).status_code == 200


def test_the_audit_row_names_the_user_and_no_secret(service: Service, user_id: str) -> None:
    link = mail_link(service)
    confirm(service, link)

    (row,) = list_audit_rows(service, "choose_password")

    assert row["actor"] == user_id
    assert row["resource"] == f"user/{user_id}/password"
    for secret in (link["token"], NEW_PASSWORD, EMAIL):
        assert secret not in json.dumps(row)


def test_the_token_is_stored_as_a_hash_only(service: Service, user_id: str) -> None:
    link = mail_link(service)

    async def read_rows() -> str:
        async with transaction(
            service.resources.engine, service.organisation.organisation_id
        ) as db:
            links = (await db.execute(sa.select(password_links))).all()
            jobs = (await db.execute(sa.text("SELECT payload::text FROM jobs"))).all()
            return f"{links} {jobs}"

    assert link["token"] not in service.run(read_rows)
    assert len(link["token"]) == 43


def test_expired_links_are_deleted(service: Service, user_id: str) -> None:
    mail_link(service)

    delete_expired(service, minutes=59)
    assert count_links(service) == 1
    delete_expired(service, minutes=61)

    assert count_links(service) == 0
