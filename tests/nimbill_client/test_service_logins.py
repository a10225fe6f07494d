"""Logins of the client at a service."""

from __future__ import annotations

import pytest

from nimbill_client import LoginFailed
from tests.nimbill_client.service_client import connect
from tests.running_service import PASSWORD, Service


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
