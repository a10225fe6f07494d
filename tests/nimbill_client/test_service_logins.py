"""Logins of the client at a service."""

from __future__ import annotations

import pytest

from nimbill_client import LoginFailed, Notification, SubuserCreate
from tests.customers.resellers.reseller_accounts import CUSTOM_PASSWORD, company, create_reseller
from tests.nimbill_client.service_client import connect
from tests.running_service import PASSWORD, Service

__all__ = ["company"]  # a fixture


def test_a_user_logs_in_with_the_password_and_refreshes(service: Service) -> None:
    organisation = service.organisation
    client = connect(service, organisation, username=organisation.username, password=PASSWORD)
    first_token = client._connection._tokens.get()
    client._connection._tokens.discard(first_token)

    groups = list(client.billing_groups.list_all())

    assert groups == []
    assert client._connection._tokens.get() != first_token


def test_a_wrong_password_is_refused(service: Service) -> None:
    organisation = service.organisation
    client = connect(service, organisation, username=organisation.username, password="wrong one")

    with pytest.raises(LoginFailed) as caught:
        client.settings.read()

    assert caught.value.code == "invalid_grant"


def sign_in(service: Service, product: str, username: str, password: str) -> None:
    response = service.http.post(
        f"/{product}/session",
        json={
            "organisation": service.organisation.organisation_id,
            "username": username,
            "password": password,
        },
    )
    assert response.status_code == 200, response.text


def test_staff_ends_the_session_of_a_customer(service: Service, company: str) -> None:
    reseller = create_reseller(service, company)
    sign_in(service, "portal", reseller.email, CUSTOM_PASSWORD)
    logins = connect(service, service.organisation).portal_logins
    (session,) = logins.list_sessions(reseller.user_id)

    logins.end_session(reseller.user_id, session.session_id)
    logins.remove_second_factors(reseller.user_id)

    assert logins.list_sessions(reseller.user_id) == []
    assert service.http.post("/portal/session/refresh").status_code == 401


def test_staff_ends_the_session_of_a_colleague(service: Service) -> None:
    users = connect(service, service.organisation).users
    colleague = users.create(
        SubuserCreate(
            username="tanaka", password=PASSWORD, notification=Notification(email="false")
        )
    )
    sign_in(service, "core", colleague.username, PASSWORD)
    (session,) = users.list_sessions(colleague.user_id)
    assert (session.product, session.current) == ("core", False)

    users.end_session(colleague.user_id, session.session_id)
    users.remove_second_factors(colleague.user_id)

    assert users.list_sessions(colleague.user_id) == []
    assert users.list_second_factors(colleague.user_id) == []
