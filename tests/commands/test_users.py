"""`nimbill users`: help for a user who lost the password or a second factor."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.commands.run_command import run_command, service_environment
from tests.identity.second_factors.factor_requests import add_app, add_passkey, session_headers
from tests.running_service import PASSWORD, Service

NEW_PASSWORD = "another horse 8"


def reset(
    service: Service, username: str, password: str, organisation: str | None = None
) -> subprocess.CompletedProcess[str]:
    organisation = organisation or service.organisation.organisation_id
    arguments = ("users", "reset-password", username, "--organisation", organisation)
    env = service_environment(service)
    return run_command(*arguments, "--password-stdin", "--json", env=env, stdin=password)


def log_in(service: Service, password: str) -> int:
    organisation = service.organisation
    form = {
        "grant_type": "password",
        "client_id": organisation.client_id,
        "client_secret": organisation.client_secret,
        "username": organisation.username,
        "password": password,
    }
    return service.http.post("/core/access_token", data=form).status_code


def test_the_new_password_replaces_the_old_one_and_revokes_tokens(service: Service) -> None:
    headers = service.root()
    assert log_in(service, PASSWORD) == 200
    assert service.http.get("/m/core/billinggroup", headers=headers).status_code == 200

    result = reset(service, "ROOT", NEW_PASSWORD)

    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["user_id"] == service.organisation.root_user_id
    assert service.http.get("/m/core/billinggroup", headers=headers).status_code == 401
    assert log_in(service, PASSWORD) != 200
    assert log_in(service, NEW_PASSWORD) == 200
    assert NEW_PASSWORD not in result.stdout + result.stderr


def test_the_reset_is_in_the_audit_log(service: Service) -> None:
    reset(service, "root", NEW_PASSWORD)
    form = {
        "grant_type": "client_credentials",
        "client_id": service.organisation.client_id,
        "client_secret": service.organisation.client_secret,
    }
    token = service.http.post("/core/access_token", data=form).json()["access_token"]

    rows = service.http.get("/m/core/audit", headers={"Authorization": f"Bearer {token}"})

    assert "reset_password" in rows.text
    assert NEW_PASSWORD not in rows.text


@pytest.mark.parametrize(
    ("username", "password", "organisation", "message"),
    [
        ("nobody", NEW_PASSWORD, None, "No user of the organisation has this name."),
        ("root", "short", None, "password"),
        ("root", NEW_PASSWORD, "org_unknown", "No organisation has this id or name."),
    ],
)
def test_unknown_users_and_invalid_passwords_are_refused(
    service: Service, username: str, password: str, organisation: str | None, message: str
) -> None:
    result = reset(service, username, password, organisation)

    assert result.returncode == 2
    assert message in result.stderr
    assert list(json.loads(result.stdout)) == ["error"]
    assert log_in(service, PASSWORD) == 200


# ── remove-second-factors ────────────────────────────────────────────────────────────────────────


def remove_factors(
    service: Service, username: str, *options: str
) -> subprocess.CompletedProcess[str]:
    organisation = ("--organisation", service.organisation.organisation_id)
    arguments = ("users", "remove-second-factors", username, *organisation, *options)
    return run_command(*arguments, env=service_environment(service))


def test_second_factors_are_removed_and_the_password_is_enough_again(service: Service) -> None:
    headers = session_headers(service)
    add_passkey(service, headers)
    add_app(service, headers)
    assert log_in(service, PASSWORD) == 400

    result = remove_factors(service, "ROOT", "--json")

    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == {"username": "ROOT", "removed": 2}
    assert log_in(service, PASSWORD) == 200
    rows = service.http.get("/m/core/audit", headers=service.root())
    assert "remove_second_factors" in rows.text


def test_removing_second_factors_names_what_is_unknown(service: Service) -> None:
    assert "No user of the organisation has this name." in remove_factors(service, "nobody").stderr
    assert "Removed 0 second factors of root." in remove_factors(service, "root").stdout
