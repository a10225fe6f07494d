"""POST /m/u/users"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from functools import partial

import pytest

from nimbill.foundation.product import Product
from tests.identity.login.token_requests import (
    OWN_MAPPINGS,
    bearer_headers,
    issue_tokens,
    password_form,
    request_token,
)
from tests.identity.users.test_user_bodies import VALID_EMAILS, VALID_PASSWORDS, VALID_USERNAMES
from tests.identity.users.user_requests import (
    SUBUSER,
    TIMESTAMP,
    USERS,
    add_subuser,
    list_subusers,
    post_subuser,
)
from tests.problem_responses import read_problem, read_violations
from tests.running_service import Service
from tests.subusers import create_subuser, run_concurrently


def test_a_subuser_is_created_from_the_required_fields(service: Service) -> None:
    record = add_subuser(service)

    assert record == {
        "user_id": record["user_id"],
        "username": "hanako.s",
        "email": None,
        "root_user": service.organisation.root_user_id,
        "notification": {"email": "false"},
        "create_time": record["create_time"],
    }
    assert record["user_id"].startswith("usr_")
    assert TIMESTAMP.fullmatch(record["create_time"])
    age = datetime.now(UTC) - datetime.fromisoformat(record["create_time"])
    assert abs(age.total_seconds()) < 60


def test_the_response_shows_the_record_of_the_list(service: Service) -> None:
    record = add_subuser(service, email="hanako@example.com", notification={"email": "true"})

    assert list_subusers(service) == [record]
    assert record["email"] == "hanako@example.com"
    assert record["notification"] == {"email": "true"}


def test_usernames_and_emails_are_stored_unchanged(service: Service) -> None:
    for position, username in enumerate(VALID_USERNAMES):
        if username.lower() in (earlier.lower() for earlier in VALID_USERNAMES[:position]):
            continue
        email = VALID_EMAILS[position] if position < len(VALID_EMAILS) else None

        record = add_subuser(service, username=username, email=email)

        assert (record["username"], record["email"]) == (username, email)


@pytest.mark.parametrize("password", VALID_PASSWORDS)
def test_the_password_is_valid_exactly_as_it_was_sent(service: Service, password: str) -> None:
    add_subuser(service, password=password)

    assert issue_tokens(service, password_form(service.organisation, "hanako.s", password))
    shorter = password_form(service.organisation, "hanako.s", password[:-1])
    assert request_token(service, shorter).is_client_error


def test_all_violations_are_reported_at_once(service: Service) -> None:
    response = post_subuser(
        service, username="abc", password="1234567", email="no", notification={"email": True}
    )

    assert sorted(read_violations(response)) == [
        ("email", "an e-mail address"),
        ("notification.email", "one of true, false"),
        ("password", "length 8 to 18"),
        ("username", "4 to 18 letters, digits, _, . or -"),
    ]
    assert list_subusers(service) == []


def test_unknown_fields_are_ignored(service: Service) -> None:
    record = add_subuser(
        service, user_id="usr_mine", root_user="usr_mine", kind="root", credential_epoch=7
    )

    assert record["user_id"] != "usr_mine"
    assert record["root_user"] == service.organisation.root_user_id
    assert list_subusers(service) == [record]


def test_a_duplicate_username_is_refused_in_any_case(service: Service) -> None:
    add_subuser(service)

    for username in ("hanako.s", "HANAKO.S", "Hanako.s", "root", "ROOT"):
        response = post_subuser(service, username=username)
        assert read_problem(response, 409)["code"] == "username_taken"
    assert len(list_subusers(service)) == 1


def test_a_duplicate_email_is_refused_in_any_case(service: Service) -> None:
    add_subuser(service, email="hanako@example.com")

    for email in ("hanako@example.com", "Hanako@EXAMPLE.com"):
        response = post_subuser(service, username="another", email=email)
        assert read_problem(response, 409)["code"] == "email_taken"
    assert len(list_subusers(service)) == 1


def test_several_subusers_may_have_no_email(service: Service) -> None:
    assert add_subuser(service, email=None)["email"] is None
    assert add_subuser(service, username="second", email=None)["email"] is None


def test_another_organisation_may_use_the_same_name_and_email(service: Service) -> None:
    add_subuser(service, email="hanako@example.com")
    other = service.new_organisation()

    response = post_subuser(service, service.root(other), email="hanako@example.com")

    assert response.status_code == 200
    assert response.json()["root_user"] == other.root_user_id


def test_only_one_of_many_concurrent_requests_gets_the_username(service: Service) -> None:
    spellings = ["hanako.s", "HANAKO.S", "Hanako.S", "hanako.S"] * 2

    responses = run_concurrently(
        [partial(post_subuser, service, username=name) for name in spellings]
    )

    outcomes = Counter((each.status_code, each.json().get("code")) for each in responses)
    assert outcomes == {(200, None): 1, (409, "username_taken"): 7}
    assert len(list_subusers(service)) == 1


def test_only_one_of_many_concurrent_requests_gets_the_email(service: Service) -> None:
    names = [f"person{number}" for number in range(6)]

    responses = run_concurrently(
        [partial(post_subuser, service, username=name, email="a@b.c") for name in names]
    )

    outcomes = Counter((each.status_code, each.json().get("code")) for each in responses)
    assert outcomes == {(200, None): 1, (409, "email_taken"): 5}


def test_a_refused_request_does_not_reserve_the_username(service: Service) -> None:
    post_subuser(service, password="short")

    assert add_subuser(service)["username"] == "hanako.s"


@pytest.mark.parametrize("product", [Product.core, Product.portal])
def test_a_new_subuser_has_no_permissions(service: Service, product: Product) -> None:
    add_subuser(service)
    form = password_form(service.organisation, "hanako.s", SUBUSER["password"])
    headers = bearer_headers(issue_tokens(service, form, product)["access_token"])

    assert service.http.get(OWN_MAPPINGS, headers=headers).json() == []
    assert service.http.get(USERS, headers=headers).status_code == 403
    assert post_subuser(service, headers, username="another").status_code == 403


@pytest.mark.parametrize("product", [Product.core, Product.portal])
def test_users_created_by_a_subuser_belong_to_the_root_user(
    service: Service, product: Product
) -> None:
    creator = create_subuser(service, core=["ModifyUsers"], portal=["ModifyUsers"])

    response = post_subuser(service, creator.headers(product))

    assert response.status_code == 200
    assert response.json()["root_user"] == service.organisation.root_user_id
